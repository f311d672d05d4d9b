import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startStores, type TestStores } from '../support/stores.ts';
import { codeSpans, filesOfProject, read, section, tableRows } from './documents.ts';
import { type FoundKey, writeOneOfEachKey } from './redis-sample.ts';

const document = 'docs/redis-keys.md';
const folder = 'services/identity/src/store/redis/';
const sources = filesOfProject().filter((path) => path.startsWith(folder) && !path.endsWith('.test.ts'));
const [, catalogue = ''] = /([\s\S]*?)\n## /.exec(read(document)) ?? [];
const rows = tableRows(catalogue).map(([key = '', type, lives = '', files = '']) => ({
  key: key.replaceAll('`', ''),
  type,
  seconds: Number(lives.split(' ')[0]),
  files: codeSpans(files),
}));

let stores: TestStores;
let found: readonly FoundKey[];

beforeAll(async () => {
  stores = await startStores();
  found = await writeOneOfEachKey(stores.redisUrl);
});
afterAll(() => stores.stop());

/** `rt:{<family>}` as a pattern of the keys that it stands for. */
function matching(pattern: string): FoundKey[] {
  const parts = pattern.split(/<\w+>/).map((part) => part.replace(/[{}]/g, '\\$&'));
  return found.filter(({ key }) => new RegExp(`^${parts.join('[A-Za-z0-9_./-]+')}$`).test(key));
}

describe(document, () => {
  test('describes every key that the stores write, and no other', () => {
    const described = rows.map(({ key }) => matching(key));
    expect(described.map((keys) => keys.length > 0)).toEqual(rows.map(() => true));
    expect(
      described
        .flat()
        .map(({ key }) => key)
        .sort(),
    ).toEqual(found.map(({ key }) => key).sort());
  });

  test('says type and life of each key', () => {
    for (const { key, type, seconds } of rows) {
      const longest = Math.max(...matching(key).map((each) => each.seconds));
      expect({ key, types: [...new Set(matching(key).map((each) => each.type))] }).toEqual({
        key,
        types: [type],
      });
      expect(Math.abs(longest - seconds), key).toBeLessThan(10);
    }
  });

  test.each(rows.filter(({ type }) => type !== 'zset'))('lists the fields of $key', ({ key }) => {
    const listed = tableRows(section(document, `### \`${key}\``)).map(([field = '']) =>
      field.replaceAll('`', ''),
    );
    const written = new Set(matching(key).flatMap(({ fields }) => fields));
    expect(listed.sort()).toEqual([...written].sort());
  });

  test('knows the beginning of every key in the sources', () => {
    const written = sources.flatMap((path) =>
      [...read(path).matchAll(/`([a-z-]+:)[^`\s]*\$\{[^`]*`/g)].map(([, prefix]) => prefix),
    );
    const documented = rows.map(({ key }) => key.slice(0, key.indexOf(':') + 1));
    expect([...new Set(written)].sort()).toEqual([...new Set(documented)].sort());
  });

  test('names for each key the files that write it', () => {
    for (const { key, files } of rows) {
      const prefix = key.slice(0, key.indexOf(':') + 1);
      for (const file of files) expect(read(file), `${file} ${key}`).toContain(functionFor(prefix));
    }
  });

  test('lists every function that runs a script', () => {
    const exported = sources.flatMap((path) =>
      read(path)
        .split(/^export /m)
        .filter((part) => part.startsWith('async function') && part.includes('runScript(redis'))
        .map((part) => /^async function (\w+)/.exec(part)?.[1]),
    );
    // A first write to a key that nobody knows yet has nothing to compare with.
    const steps = exported.filter((name) => name !== 'runScript' && name !== 'createSession');
    const listed = tableRows(section(document, '## Atomic steps')).map(([, name = '']) =>
      name.replaceAll('`', ''),
    );
    expect(listed.sort()).toEqual(steps.sort());
  });
});

/** What a file that writes a key must hold: the key's text, or the function that makes it. */
function functionFor(prefix: string): string {
  return { 'code:': 'codeKey(', 'rt:': 'familyKey(' }[prefix] ?? prefix;
}
