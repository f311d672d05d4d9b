// docs/operator.md as a program: the blocks of each section, in order.
import { read } from '../docs/documents.ts';

export interface Chapter {
  readonly title: string;
  readonly blocks: readonly string[];
}

/** Every section with the shell blocks in it. */
export function chapters(): readonly Chapter[] {
  const [, ...sections] = read('docs/operator.md').split(/^## /m);
  return sections.map((section) => ({
    title: section.slice(0, section.indexOf('\n')),
    blocks: blocksOf(section),
  }));
}

/** The block above the first section: how the tool is called in a clone. */
export function callingBlock(): string {
  const [block = ''] = blocksOf(read('docs/operator.md'));
  return block;
}

function blocksOf(text: string): readonly string[] {
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block]) => block ?? '');
}
