// Finds a Chromium, or brings Debian's: installed as root, unpacked into the cache otherwise.
import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '@course-exchange/local-stack/cache';
import { unpackDebianPackage } from '@course-exchange/local-stack/debian-package';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const unpacked = join(cacheDirectory(), 'chromium');

/** Its path, and what it needs in its environment. Throws one sentence when there is none and none can be brought. */
export async function chromium() {
  const cause = installed() ? undefined : await bring().catch((error: unknown) => error);
  const executablePath = installed();
  if (executablePath) return { executablePath, env: executablePath.startsWith(unpacked) ? libraries() : {} };
  const sentence = 'Install Chromium, or set CHROMIUM_PATH to the path of its program.';
  throw new Error(`The browser suite needs Chromium. ${sentence}`, { cause });
}

function installed(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const known = [
    process.env.CHROMIUM_PATH ?? '',
    ...folders.flatMap((folder) => names.map((name) => join(folder, name))),
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    join(unpacked, 'usr/lib/chromium/chromium'),
  ];
  return known.find((path) => path !== '' && existsSync(path));
}

function libraries() {
  const folders = globSync(join(unpacked, '{usr/lib,lib}/*-linux-gnu{,/nss}'));
  return { LD_LIBRARY_PATH: folders.join(delimiter) };
}

function bring(): Promise<unknown> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...words: string[]) => promisify(execFile)('apt-get', words, { env, timeout: 300_000 });
  const install = ['install', '--yes', '--quiet', '--no-install-recommends', 'chromium'];
  if (process.getuid?.() === 0)
    return apt(...install).catch(() => apt('update', '--quiet').then(() => apt(...install)));
  return apt('-o', 'Debug::NoLocking=1', '--simulate', ...install).then(({ stdout }) =>
    unpackDebianPackage(
      unpacked,
      [...stdout.matchAll(/^Inst (\S+)/gm)].map(([, name = '']) => name),
    ),
  );
}
