// Lays out the Node that runs this for an image without it: `node deploy/images/node-program.ts DIRECTORY` writes the
// program, its licence where there is one, and the one shared library that small bases leave out.
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  utimesSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error('Usage: node deploy/images/node-program.ts DIRECTORY');
  process.exit(2);
}
const target = resolve(directory);
const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? 0);
place(process.execPath, '/usr/local/bin/node');
for (const library of loadedLibraries().filter((path) => basename(path).startsWith('libatomic.so')))
  place(realpathSync(library), join('/usr/lib', multiarch(library), 'libatomic.so.1'));
settle(target);

/** Shared libraries that this process has loaded, as the operating system tells. */
function loadedLibraries(): readonly string[] {
  const report = process.report.getReport() as { readonly sharedObjects?: readonly string[] };
  return report.sharedObjects ?? [];
}

/** `x86_64-linux-gnu`, from the path of a library of Debian. */
function multiarch(library: string): string {
  return basename(dirname(library));
}

function place(source: string, path: string): void {
  const file = join(target, path);
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(source, file);
  chmodSync(file, 0o755);
}

function settle(path: string): void {
  if (lstatSync(path).isDirectory()) for (const item of readdirSync(path)) settle(join(path, item));
  utimesSync(path, epoch, epoch);
}
