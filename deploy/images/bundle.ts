// Makes the content of the images: `node deploy/images/bundle.ts DIRECTORY [IMAGE …]` writes DIRECTORY/IMAGE/app.
// Same sources, same bytes, same times: every file is dated SOURCE_DATE_EPOCH (seconds, 0 when absent).
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { copyNative } from './native.ts';
import { type ImageContent, type ImageName, imageNames, images } from './programs.ts';

const root = resolve(import.meta.dirname, '../..');

/** What packages written as CommonJS expect to find in a module. */
const commonJs = [
  "import { createRequire as requireFrom } from 'node:module';",
  'const require = requireFrom(import.meta.url);',
  'const __filename = import.meta.filename;',
  'const __dirname = import.meta.dirname;',
].join(' ');

const [directory, ...chosen] = process.argv.slice(2);
const names = chosen.length === 0 ? imageNames : imageNames.filter((name) => chosen.includes(name));
if (directory === undefined || (chosen.length > 0 && names.length !== chosen.length)) {
  console.error(
    `Usage: node deploy/images/bundle.ts DIRECTORY [IMAGE …] with images from: ${imageNames.join(', ')}`,
  );
  process.exit(2);
}
for (const name of names) await writeImage(name, resolve(directory, name));

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
  const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? 0);
  settle(target, epoch);
  console.log(`${name}: ${(sizeOf(target) / 1_000_000).toFixed(1)} MB`);
}

/** On PATH, and run by the kernel: there is no shell that could start it. */
function writeCommand(target: string, command: string, file: string): void {
  const directory = join(target, 'usr/local/bin');
  mkdirSync(directory, { recursive: true });
  const path = join(directory, command);
  writeFileSync(path, `#!/usr/local/bin/node --enable-source-maps\nimport('/app/${file}');\n`);
  chmodSync(path, 0o755);
}

async function bundleProgram(entry: string, outfile: string, external: string[]): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node26',
    format: 'esm',
    // Names stay, so that stack traces and logs read as the sources do even without the map.
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: true,
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

/** Gives everything below `path` one date and plain permissions, so that layers are the same at every build. */
function settle(path: string, seconds: number): void {
  if (statSync(path).isDirectory()) for (const item of readdirSync(path)) settle(join(path, item), seconds);
  utimesSync(path, seconds, seconds);
}

function sizeOf(path: string): number {
  const found = statSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, item) => sum + sizeOf(join(path, item)), 0);
}
