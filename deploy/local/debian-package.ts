// Programs from Debian's packages, unpacked into the cache: no root, nothing registered with the system, no lock of dpkg.
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fetchFolder, outputOf } from './fetched-folder.ts';

interface Unpacking {
  /** The first is the program. Of the others, which have other names on other systems, those that this one has. */
  readonly packages: readonly string[];
  /** Also what the program depends on and this system lacks. */
  readonly withDependencies?: boolean;
  /** Adds to the folder before it has its name. */
  readonly prepare?: (folder: string) => void;
}

/** Unpacks them into `home`. Changes nothing where apt or the network is missing. Call it alone (exclusive.ts). */
export async function unpackDebianPackages(home: string, unpacking: Unpacking): Promise<void> {
  const fill = async (folder: string) => {
    const debs = join(folder, 'apt');
    mkdirSync(join(debs, 'lists/partial'), { recursive: true });
    await download(debs, unpacking);
    for (const file of globSync('*.deb', { cwd: debs }))
      await outputOf('dpkg', ['-x', file, folder], { cwd: debs });
    rmSync(debs, { recursive: true });
    if (existsSync(join(folder, fonts))) writeFileSync(join(folder, fontsFile), fontsAt(home));
    unpacking.prepare?.(folder);
  };
  await fetchFolder(home, fill).catch(() => {});
}

/** What an unpacked program needs in its environment: its libraries and, if it draws, its fonts lie below `home`. */
export function unpackedEnvironment(home: string): Record<string, string> {
  const libraries = globSync(join(home, '{usr/lib,lib}/*-linux-gnu*/{,*/}lib*.so*'));
  const drawn = existsSync(join(home, fontsFile)) ? { FONTCONFIG_FILE: join(home, fontsFile) } : {};
  return { LD_LIBRARY_PATH: [...new Set(libraries.map(dirname))].join(delimiter), ...drawn };
}

const fonts = 'usr/share/fonts';
const fontsFile = 'fonts.conf';

/** Fontconfig's settings: Debian's name the system's folders. */
function fontsAt(home: string): string {
  const places = [`<dir>${join(home, fonts)}</dir>`, `<cachedir>${join(home, 'fonts-cache')}</cachedir>`];
  return `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${places.join('')}</fontconfig>`;
}

async function download(folder: string, unpacking: Unpacking): Promise<void> {
  const [program = '', ...others] = unpacking.packages;
  // apt's own user cannot write into a private cache.
  const options = ['-q', '-o', 'APT::Sandbox::User=root', '-o', 'Debug::NoLocking=1'];
  const apt = (...words: readonly string[]) => outputOf('apt-get', [...options, ...words], { cwd: folder });
  const missing = async () => {
    const planned = await apt('--simulate', '--no-install-recommends', 'install', program);
    return [...planned.matchAll(/^Inst (\S+)/gm)].map(([, name = '']) => name);
  };
  const attempt = async () => apt('download', ...(unpacking.withDependencies ? await missing() : [program]));
  await attempt().catch(async () => {
    // This system has no package lists, or old ones: they are fetched into the folder.
    options.push('-o', `Dir::State::Lists=${folder}/lists`, '-o', `Dir::Cache=${folder}`);
    await apt('update');
    await attempt();
  });
  for (const name of others) await apt('download', name).catch(() => {});
}
