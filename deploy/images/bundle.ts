// Makes the content of the images: `node deploy/images/bundle.ts DIRECTORY [IMAGE …]` writes DIRECTORY/IMAGE/app, and the Node
// that runs this into DIRECTORY/node, for a base without it.
// Same sources, same bytes, same times: every file is dated SOURCE_DATE_EPOCH (seconds, 0 when absent).
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { chosenImages, type ImageContent, type ImageName, images } from './programs.ts';

const root = resolve(import.meta.dirname, '../..');

const commonJs = [
  "import { createRequire as requireFrom } from 'node:module';",
  'const require = requireFrom(import.meta.url);',
  'const __filename = import.meta.filename;',
  'const __dirname = import.meta.dirname;',
].join(' ');

const [directory = '', ...chosen] = process.argv.slice(2);
const names = chosenImages(directory === '' ? [''] : chosen, 'bundle.ts DIRECTORY');
const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? 0);
for (const name of names) await writeImage(name, resolve(directory, name));
writeNode(resolve(directory, 'node'));

async function writeImage(name: ImageName, target: string): Promise<void> {
  const content: ImageContent = images[name];
  const app = join(target, 'app');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(app, { recursive: true });
  writeFileSync(join(app, 'package.json'), '{ "type": "module" }\n');
  for (const file of content.files ?? []) cpSync(join(root, file), join(app, file), { recursive: true });
  if (content.native) copyNative(join(root, content.native.from), content.native.packages, app);
  const external = [...(content.native?.packages ?? []), ...(content.external ?? [])];
  for (const entry of content.programs)
    await bundleProgram(entry, join(app, entry.replace(/\.ts$/, '.js')), external);
  for (const [file, entry] of Object.entries(content.tools ?? {}))
    await bundleProgram(entry, join(app, file), external);
  for (const [command, file] of Object.entries(content.commands ?? {})) writeCommand(target, command, file);
  settle(target);
  console.log(name);
}

/** Packages with a compiled part: their scripts and the one binary of this machine's platform. Puts `packages`, as the package at `from` sees them, below `app`/node_modules. */
function copyNative(from: string, packages: readonly string[], app: string): void {
  for (const name of packages) {
    const entry = createRequire(join(from, 'package.json')).resolve(name);
    const store = dirname(dirname(realpathSync(dirname(entry))));
    const platform = `${name.split('/')[1]}-${process.platform}-${process.arch}`;
    const scope = join(store, name.split('/')[0] ?? '');
    const binaries = readdirSync(scope).filter((item) => item.startsWith(platform) && !item.includes('musl'));
    if (binaries.length !== 1)
      throw new Error(`${name} has no binary for ${process.platform} ${process.arch}.`);
    for (const item of [name.split('/')[1] ?? '', ...binaries]) {
      cpSync(realpathSync(join(scope, item)), join(app, 'node_modules', name.split('/')[0] ?? '', item), {
        recursive: true,
        filter: (path) => !/\.(md|ts|mts|cts|map)$|browser\.js$/.test(path),
      });
    }
  }
}

/** On PATH, and run by the kernel: there is no shell that could start it. */
function writeCommand(target: string, command: string, file: string): void {
  const directory = join(target, 'usr/local/bin');
  mkdirSync(directory, { recursive: true });
  const path = join(directory, command);
  writeFileSync(path, `#!/usr/local/bin/node\nimport('/app/${file}');\n`);
  chmodSync(path, 0o755);
}

async function bundleProgram(entry: string, outfile: string, external: string[]): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outdir: dirname(outfile),
    entryNames: basename(outfile, '.js'),
    bundle: true,
    // A dynamic import (the telemetry SDK) is a file beside the program.
    splitting: true,
    chunkNames: `${basename(outfile, '.js')}-[name]-[hash]`,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Identifiers stay: stack traces are readable without the map, which costs a process 40 MiB
    // (NODE_OPTIONS=--enable-source-maps reads it).
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    // Optional parts of drivers; the programs do without them.
    external: [...external, 'pg-native'],
    banner: { js: commonJs },
    logLevel: 'warning',
    logOverride: { 'direct-eval': 'silent' },
  });
}

/** The Node that runs this. */
function writeNode(target: string): void {
  const directory = join(target, 'usr/local/bin');
  mkdirSync(directory, { recursive: true });
  copyFileSync(process.execPath, join(directory, 'node'));
  chmodSync(join(directory, 'node'), 0o755);
  settle(target);
}

/** Gives everything below `path` one date, so that layers are the same at every build. */
function settle(path: string): void {
  if (statSync(path).isDirectory()) for (const item of readdirSync(path)) settle(join(path, item));
  utimesSync(path, epoch, epoch);
}
