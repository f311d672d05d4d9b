// Makes proto/generated from the .proto files, unless it is made from these already: `node proto/generate.ts`. An
// install runs it, and so does every command that needs the code, for a checkout may bring other .proto files.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

const here = import.meta.dirname;
const generated = join(here, 'generated');
const tools = join(here, 'node_modules/.bin');

/** Throws with the generator's words where it fails; the code that was there stays then. */
export function generateProto(): void {
  const protos = globSync('courseexchange/**/*.proto', { cwd: here }).sort();
  const hash = sourceHash(protos);
  const stamp = join(generated, 'sources.sha256');
  // A checkout of a commit that held the code, and back, leaves the stamp without it.
  const code = protos.map((name) => join(generated, name.replace('.proto', '_pb.ts')));
  if ([stamp, ...code].every((file) => existsSync(file)) && readFileSync(stamp, 'utf8') === hash) return;
  // A process that reads the code now finds the old or the new, not half of it.
  const fresh = join(here, `generated-${process.pid}`);
  mkdirSync(fresh);
  try {
    generateInto(fresh);
    writeFileSync(join(fresh, 'sources.sha256'), hash);
    rmSync(generated, { recursive: true, force: true });
    renameSync(fresh, generated);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function generateInto(directory: string): void {
  const buf = join(here, 'node_modules/@bufbuild/buf/bin/buf');
  const { status, stderr } = spawnSync(process.execPath, [buf, 'generate', '--output', directory], {
    cwd: here,
    encoding: 'utf8',
    env: { ...process.env, PATH: [tools, dirname(process.execPath), process.env.PATH].join(delimiter) },
  });
  if (status !== 0) throw new Error(`buf generate: ${stderr}`);
}

/** Covers everything that the code is made from: the contract, the options, and the generator's version. */
function sourceHash(protos: readonly string[]): string {
  const hash = createHash('sha256');
  for (const name of [...protos, 'buf.gen.yaml', 'node_modules/@bufbuild/protoc-gen-es/package.json'])
    hash.update(`${name}\n`).update(readFileSync(join(here, name)));
  return hash.digest('hex');
}

if (import.meta.main) generateProto();
