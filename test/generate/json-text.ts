// JSON of generated files, as the formatter has it.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../check/step.ts';

export function jsonText(value: unknown): string {
  const biome = join(root, 'node_modules/.bin/biome');
  const options = { cwd: root, input: JSON.stringify(value), encoding: 'utf8', maxBuffer: 16 << 20 } as const;
  return execFileSync(biome, ['format', '--stdin-file-path=generated.json'], options);
}
