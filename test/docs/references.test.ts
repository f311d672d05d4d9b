import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  codeSpans,
  documents,
  exists,
  fencedLines,
  filesOfProject,
  read,
  section,
  tableRows,
} from './documents.ts';

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const options = read('deploy/local/arguments.ts');
/** Scripts that read options themselves, and where. */
const ownOptions: Readonly<Record<string, string>> = {
  test: 'test/run/suites.ts',
  images: 'deploy/images/build.ts',
};

/** Where a document's short paths begin, besides its own folder and the repository. */
const bases: Readonly<Record<string, readonly string[]>> = {
  'docs/partner-guide.md': ['services/demo-partner/src'],
};
/** A path in this repository: with a folder we have, or with the ending of a source file. */
const looksLikeFile = /^[\w.-]+(\/[\w.-]+)*\.(ts|sql|md|proto|json|yaml|binpb)$/;
const looksLikeFolder = /^(proto|services|deploy|helm|test|docs)(\/[\w.-]+)*\/?$/;
/** Made when something runs. */
const madeLater = [
  'stack.json',
  'ports.json',
  'processes.json',
  'secrets.json',
  'seed.json',
  '.run/stack.json',
];

describe.each(documents())('%s', (document) => {
  const text = read(document);

  test('links to files that exist', () => {
    const targets = [...text.matchAll(/\]\(([^)#]+)(#[^)]*)?\)/g)].map(([, target]) => target ?? '');
    const broken = targets.filter(
      (target) => !/^(https?|mailto):/.test(target) && !exists(normalize(join(dirname(document), target))),
    );
    expect(broken).toEqual([]);
  });

  test('names files and folders that exist', () => {
    const named = codeSpans(text).filter(
      (span) => (looksLikeFile.test(span) || looksLikeFolder.test(span)) && !madeLater.includes(span),
    );
    const roots = ['.', dirname(document), ...(bases[document] ?? [])];
    expect(named.filter((path) => !roots.some((base) => exists(join(base, path))))).toEqual([]);
  });

  test('tells commands and options that there are', () => {
    const commands = [...codeSpans(text), ...fencedLines(text)].flatMap((line) =>
      [...line.matchAll(/npx --yes pnpm@12 (\w[\w:-]*)([^#]*)/g)].map(([, script = '', rest = '']) => ({
        script,
        rest,
      })),
    );
    const unknown = commands.filter(({ script, rest }) => {
      const given = [...rest.matchAll(/--[a-z-]+/g)].map(([option]) => option);
      const known = ownOptions[script] ? read(ownOptions[script]) : options;
      return scripts[script] === undefined || given.some((option) => !known.includes(option));
    });
    expect(unknown).toEqual([]);
  });
});

test('the page of the flow names functions of the files that it names', () => {
  const rows = tableRows(read('docs/request-flow.md')).map((row) =>
    row.filter((cell) => /^`[^`]+`$/.test(cell)),
  );
  for (const [file = '', name = ''] of rows.map((row) => row.map((cell) => cell.replaceAll('`', '')))) {
    expect(read(file), `${file} ${name}`).toContain(`function ${name}(`);
  }
  expect(rows.length).toBeGreaterThan(10);
});

test('the partner guide names functions of the files that it names', () => {
  const pairs = [...read('docs/partner-guide.md').matchAll(/`([\w-]+\.ts)` `(\w+)`/g)];
  for (const [, file = '', name = ''] of pairs) {
    expect(read(`services/demo-partner/src/${file}`), `${file} ${name}`).toMatch(
      new RegExp(`(function |readonly )${name}\\b`),
    );
  }
  expect(pairs.length).toBeGreaterThan(2);
});

test('the list of decisions names every page by its title', () => {
  const pages = filesOfProject()
    .filter((path) => /^docs\/decisions\/\d{4}-.*\.md$/.test(path))
    .sort();
  const expected = pages.map((path) => {
    const [title = ''] = read(path).split('\n');
    return `- [${title.slice(2)}](${path.slice('docs/decisions/'.length)})`;
  });
  expect(
    read('docs/decisions/README.md')
      .split('\n')
      .filter((line) => line.startsWith('- ')),
  ).toEqual(expected);
});

test('the README has its four doors, each with a command to run first', () => {
  for (const door of ['Partner developer', 'Operator', 'SRE', 'Engineer'])
    expect(section('README.md', `### ${door}`).trim()).toMatch(/^Run `npx --yes pnpm@12 \w+/);
  const firstScreen = read('README.md').split('\n').slice(0, 24).join('\n');
  for (const command of ['npx --yes pnpm@12 start', 'npx --yes pnpm@12 test'])
    expect(firstScreen).toContain(command);
});
