// What a suite has left of its own in the temporary directory: nothing, when all is well.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Names that tests and programs of ours give; a browser's and other tools' own are not ours to judge. */
const ours =
  /^(course-exchange|demo-partner|env|partnerctl|feed-import|operator|line-blocks|import-rules|chart|helm-build)-/;

/** The names, sorted. They are removed, so that the next suite is not blamed for them. */
export function leftovers(directory: string): readonly string[] {
  const left = readdirSync(directory)
    .filter((name) => ours.test(name))
    .sort();
  for (const name of left) rmSync(join(directory, name), { recursive: true, force: true });
  return left;
}
