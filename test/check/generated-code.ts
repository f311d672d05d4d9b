// Compares the committed generated code with what the .proto sources generate now.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { command, root, type StepResult } from './step.ts';

/** Passes when `proto/generated` holds exactly the files that `pnpm generate` would write. */
export async function compareGeneratedCode(): Promise<StepResult> {
  const fresh = await mkdtemp(join(tmpdir(), 'generated-'));
  try {
    const generate = command('buf', 'generate', '--template', 'proto/buf.gen.yaml', '-o', fresh, 'proto');
    const result = await generate();
    if (!result.passed) return result;
    const differing = differences(
      await contents(join(root, 'proto/generated')),
      await contents(join(fresh, 'proto/generated')),
    );
    const output = `run \`pnpm generate\`; these files differ:\n${differing.join('\n')}`;
    return { passed: differing.length === 0, output };
  } finally {
    await rm(fresh, { recursive: true });
  }
}

async function contents(directory: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(
      files.map(async (file) => [relative(directory, file), await readFile(file, 'utf8')] as const),
    ),
  );
}

function differences(committed: ReadonlyMap<string, string>, fresh: ReadonlyMap<string, string>): string[] {
  const names = new Set([...committed.keys(), ...fresh.keys()]);
  return [...names].filter((name) => committed.get(name) !== fresh.get(name)).sort();
}
