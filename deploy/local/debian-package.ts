// Programs from Debian's packages, unpacked into the cache: no root, and nothing registered with the system.
import { execFile } from 'node:child_process';
import { globSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Unpacks the first of `packages`, and what this system has of the others, into `home`; `prepare` may add to the folder
 * before it is there. Changes nothing where apt or the network is missing.
 */
export async function unpackDebianPackage(
  home: string,
  [program = '', ...libraries]: readonly string[],
  prepare: (folder: string) => void = () => {},
): Promise<void> {
  const unfinished = `${home}.${process.pid}`;
  const cwd = join(unfinished, 'apt');
  const run = (command: string, ...words: readonly string[]) =>
    promisify(execFile)(command, words, { cwd, timeout: 300_000 });
  // apt's own user cannot write into a private cache.
  const apt = ['-q', '-o', 'APT::Sandbox::User=root'];
  const download = (name: string) => run('apt-get', ...apt, 'download', name);
  mkdirSync(join(cwd, 'lists/partial'), { recursive: true });
  try {
    await download(program).catch(async () => {
      // No package lists on this system: fetch them into the folder.
      apt.push('-o', `Dir::State::Lists=${cwd}/lists`, '-o', `Dir::Cache=${cwd}`);
      await run('apt-get', ...apt, 'update');
      await download(program);
    });
    // Libraries have other names on other systems, and most are there already: the program itself decides.
    for (const library of libraries) await download(library).catch(() => {});
    for (const file of globSync('*.deb', { cwd })) await run('dpkg', '-x', file, unfinished);
    rmSync(cwd, { recursive: true });
    prepare(unfinished);
    rmSync(home, { recursive: true, force: true });
    renameSync(unfinished, home);
  } catch {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
