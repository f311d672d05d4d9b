// Reads the documents for the tests that compare them with the code: text, tables, links.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../check/step.ts';

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

export function exists(path: string): boolean {
  return existsSync(join(root, path));
}

/** Relative to the root, without what .gitignore names. Needs no git: an archive of the project has its files alone. */
export function filesOfProject(): string[] {
  const ignored = read('.gitignore')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/\/$/, ''))
    .map((pattern) => (pattern.includes('/') ? pattern.replace(/^\//, '') : `**/${pattern}`));
  return globSync(['**', '**/.*', '**/.*/**'], {
    cwd: root,
    exclude: ['.git', ...ignored],
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

export function documents(): string[] {
  return filesOfProject().filter((path) => path.endsWith('.md'));
}

/** What stands under a heading, up to the next one of the same or a higher level. Throws when there is none. */
export function section(document: string, heading: string): string {
  const [, rest] = `\n${read(document)}`.split(`\n${heading}\n`);
  if (rest === undefined) throw new Error(`${document} has no heading "${heading}"`);
  return rest.split(new RegExp(`^#{1,${heading.indexOf(' ')}} `, 'm'))[0] ?? '';
}

/** Rows of all tables in `text`, cell by cell, without their headings. */
export function tableRows(text: string): string[][] {
  const bodies = [...text.matchAll(/^\|[-|]+\n((?:\|.*\n?)+)/gm)].flatMap(([, body = '']) =>
    body.trim().split('\n'),
  );
  return bodies.map((row) =>
    row
      .slice(1, row.lastIndexOf('|'))
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  );
}

export function codeSpans(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code ?? '');
}

/** The blocks of shell in `text`, in order, without the indentation of a list; `text`: those for another place. */
export function shellBlocks(text: string, language: 'sh' | 'text' = 'sh'): string[] {
  const blocks = new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm');
  return [...text.matchAll(blocks)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}

/** The keys that docs/redis-keys.md names: what they look like, their type, longest life and fields. */
export function documentedRedisKeys() {
  const page = 'docs/redis-keys.md';
  const [, catalogue = ''] = /([\s\S]*?)\n## /.exec(read(page)) ?? [];
  return tableRows(catalogue).map(([key = '', type, lives = '']) => {
    const braced = key.replace(/[{}]/g, '\\$&').replaceAll('<network>', '[0-9a-z.:/]+');
    const pattern = new RegExp(`^${braced.replaceAll('`', '').replace(/<\w+>/g, '[A-Za-z0-9_-]+')}$`);
    const listed = type === 'zset' ? '' : section(page, `### ${key}`);
    const names = [...listed.matchAll(/^- `(\w+)`: /gm)].map(([, field]) => field);
    return { pattern, type, seconds: Number(lives.split(' ')[0]), fields: new Set(names) };
  });
}
