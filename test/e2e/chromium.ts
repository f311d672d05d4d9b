// Finds a Chromium, or brings Debian's: installed as root, unpacked into the cache otherwise.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '@course-exchange/local-stack/cache';

const run = promisify(execFile);
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const sentence =
  'The browser suite needs Chromium: install it, or set CHROMIUM_PATH to the path of its program.';

export interface Chromium {
  readonly executablePath: string;
  /** Where its own shared libraries lie, when it was unpacked and not installed. */
  readonly libraryPath: string | undefined;
}

/** Throws one sentence when there is no Chromium and none can be brought. */
export async function chromium(): Promise<Chromium> {
  const found = installed();
  if (found) return found;
  await (process.getuid?.() === 0 ? install() : unpack()).catch((cause) => {
    throw new Error(sentence, { cause });
  });
  const brought = installed();
  if (!brought) throw new Error(sentence);
  return brought;
}

function installed(): Chromium | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const known = [
    process.env.CHROMIUM_PATH ?? '',
    ...folders.flatMap((folder) => names.map((name) => join(folder, name))),
    '/usr/bin/chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ];
  const executablePath = known.find((path) => path !== '' && existsSync(path));
  if (executablePath) return { executablePath, libraryPath: undefined };
  const unpacked = join(unpackedHome(), 'usr/lib/chromium/chromium');
  if (!existsSync(unpacked)) return undefined;
  return { executablePath: unpacked, libraryPath: librariesIn(unpackedHome()) };
}

async function install(): Promise<void> {
  const apt = (...parameters: string[]) =>
    run('apt-get', parameters, {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      timeout: 300_000,
    });
  const chosen = ['install', '--yes', '--quiet', '--no-install-recommends', 'chromium'];
  await apt(...chosen).catch(async () => {
    await apt('update', '--quiet');
    await apt(...chosen);
  });
}

function unpackedHome(): string {
  return join(cacheDirectory(), 'chromium');
}

function librariesIn(home: string): string {
  const triple = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  return [`usr/lib/${triple}`, `lib/${triple}`, `usr/lib/${triple}/nss`]
    .map((folder) => join(home, folder))
    .join(delimiter);
}

/** Chromium and whatever of its dependencies is not installed, each unpacked into one directory. */
async function unpack(): Promise<void> {
  const half = `${unpackedHome()}.${process.pid}`;
  const packages = join(half, 'packages');
  await mkdir(packages, { recursive: true });
  const wanted = ['-o', 'Debug::NoLocking=1', 'install', '--simulate', '--no-install-recommends', 'chromium'];
  const { stdout } = await run('apt-get', wanted);
  const missing = [...stdout.matchAll(/^Inst (\S+)/gm)].map((match) => match[1] ?? '');
  await run('apt-get', ['download', ...missing], { cwd: packages, timeout: 300_000 });
  for (const file of await readdir(packages)) await run('dpkg', ['-x', join(packages, file), half]);
  await rm(packages, { recursive: true });
  await rename(half, unpackedHome());
}
