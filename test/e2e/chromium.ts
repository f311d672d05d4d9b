// Finds a Chromium, or installs Debian's where tests run as root.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Its path. Throws one sentence when there is none and none can be installed. */
export async function chromium(): Promise<string> {
  const cause = installed() ? undefined : await install().catch((error: unknown) => error);
  const path = installed();
  if (path) return path;
  const sentence = 'Install Chromium, or set CHROMIUM_PATH to the path of its program.';
  throw new Error(`The browser suite needs Chromium. ${sentence}`, { cause });
}

function installed(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const known = [
    process.env.CHROMIUM_PATH ?? '',
    ...folders.flatMap((folder) => names.map((name) => join(folder, name))),
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ];
  return known.find((path) => path !== '' && existsSync(path));
}

function install(): Promise<unknown> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...words: string[]) => promisify(execFile)('apt-get', words, { env, timeout: 300_000 });
  const words = ['install', '--yes', '--quiet', '--no-install-recommends', 'chromium'];
  return apt(...words).catch(() => apt('update', '--quiet').then(() => apt(...words)));
}
