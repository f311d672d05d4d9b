import { dirname, join, normalize } from 'node:path';
import { errorStatuses } from '@course-exchange/rules/error-codes';
import { describe, expect, test } from 'vitest';
import { redirectedErrors } from '../../services/identity/src/authorize/response.ts';
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
/** Scripts that read options themselves: those of vitest that pages name, or where they are read. */
const ownOptions: Readonly<Record<string, string>> = {
  test: '--project',
  'test:cluster': '--testNamePattern',
  'test:faults': read('test/faults/run.ts'),
  images: read('deploy/images/build.ts'),
  bench: read('test/bench/run.ts'),
};

/** Where a document's short paths begin, besides its own folder and the repository. */
const bases: Readonly<Record<string, readonly string[]>> = {
  'docs/partner-guide.md': ['services/demo-partner/src'],
  'docs/architecture.md': ['services/identity/src', 'services/identity/src/keys'],
  'CONTRIBUTING.md': [
    'services/gateway/src/routes',
    'services/identity/src',
    'services/identity/src/keys',
    'services/partnerctl/src/cli',
    'helm/course-exchange',
  ],
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
  'bases.json',
  'hosts.yaml',
  '.run/stack.json',
];

/** What a link may name in a page: its own anchors, and its headings as GitHub spells them. */
function anchors(page: string): readonly string[] {
  const headings = [...page.matchAll(/^#+ (?:<a id="[^"]*"><\/a>)?(.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return [...headings, ...[...page.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)];
}

describe.each(documents())('%s', (document) => {
  const text = read(document);

  test('links to files and headings that exist', () => {
    const links = [...text.matchAll(/\]\(([^)#]*)(?:#([^)]*))?\)/g)]
      .filter(([, target = '']) => !/^(https?|mailto):/.test(target))
      .map(([, target, anchor]) => ({
        file: target ? normalize(join(dirname(document), target)) : document,
        anchor,
      }));
    const broken = links.filter(
      ({ file, anchor }) => !exists(file) || (anchor !== undefined && !anchors(read(file)).includes(anchor)),
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
      const known = ownOptions[script] ?? options;
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
    expect(read(file), `${file} ${name}`).toMatch(new RegExp(`\\b(function|const) ${name}\\b`));
  }
  expect(rows.length).toBeGreaterThan(10);
});

test('the partner guide names functions of the files that it names', () => {
  const pairs = [...read('docs/partner-guide.md').matchAll(/`([\w-]+\.ts)` `(\w+)`/g)];
  for (const [, file = '', name = ''] of pairs) {
    expect(read(`services/demo-partner/src/${file}`), `${file} ${name}`).toMatch(
      new RegExp(`(function ${name}\\b|^ +${name}[:,(])`, 'm'),
    );
  }
  expect(pairs.length).toBeGreaterThan(2);
});

test('docs/partner-guide.md tells what to do for every code, and for none that there is not', () => {
  const guide = section('docs/partner-guide.md', '## Errors');
  const named = codeSpans(
    tableRows(guide)
      .map(([code]) => code)
      .join('\n'),
  );
  const told = named.filter((code) => /^[a-z]+(_[a-z]+)+$/.test(code));
  // A partner tells it by its status.
  const expected = Object.keys(errorStatuses).filter((code) => code !== 'server_error');
  const known = new Set([...expected, ...redirectedErrors, 'method_not_allowed']);
  expect([...new Set(told)].sort()).toEqual([...known].sort());
});

test('pages name every variable that the local stack and the tests read', () => {
  const named = codeSpans(
    ['docs/settings.md', 'docs/images.md', 'test/README.md'].map((page) => read(page)).join('\n'),
  );
  const sources = filesOfProject().filter(
    (path) => /^(deploy|test)\/.*\.ts$/.test(path) && !path.startsWith('test/check/'),
  );
  const variables = sources.flatMap((path) =>
    [...read(path).matchAll(/process\.env\.([A-Z_]+)/g)].map(([, name]) => name ?? ''),
  );
  const ofOthers = ['PATH', 'HOME', 'TMPDIR', 'XDG_DATA_HOME', 'VITEST_POOL_ID', 'NODE_COMPILE_CACHE'];
  const missing = variables.filter((name) => !ofOthers.includes(name) && !named.includes(name));
  expect([...new Set(missing)]).toEqual([]);
});

test('the README has its four doors, each with a command to run first', () => {
  for (const door of ['Partner developer', 'Operator', 'SRE', 'Engineer'])
    expect(section('README.md', `### ${door}`).trim()).toMatch(/^Run `npx --yes pnpm@12 \w+/);
  const firstScreen = read('README.md').split('\n').slice(0, 24).join('\n');
  for (const command of ['npx --yes pnpm@12 start', 'npx --yes pnpm@12 test'])
    expect(firstScreen).toContain(command);
});

test('the sentences of docs/operations.md about health are in the sources of the process', () => {
  const rows = tableRows(section('docs/operations.md', '## Health')).filter((row) => row.length === 3);
  const sources = filesOfProject().filter(
    (path) => path.startsWith('services/') && path.endsWith('.ts') && !path.endsWith('.test.ts'),
  );
  for (const [processes = '', , sentence = ''] of rows)
    for (const process of processes.split(', ')) {
      const text = sources
        .filter((path) => path.startsWith(`services/${process}/`) || path.startsWith('services/runtime/'))
        .map(read)
        .join('\n');
      for (const part of sentence.split('…').filter((each) => each.trim() !== ''))
        expect(text, sentence).toContain(part.trim());
    }
  expect(rows.length).toBeGreaterThan(10);
});

// Put together from parts, so that this file may be looked at too.
const outside: readonly (readonly [string, RegExp])[] = [
  [
    'a directory of one machine',
    new RegExp(`(?<![\\w.~-])/(?:${['home', 'root', 'work', 'Users'].join('|')})/\\w`),
  ],
  ['a path of Windows', /\b[A-Z]:\\\\?(?:Users|work)\b/],
  [
    'a host of a package registry',
    new RegExp(['registry\\.[\\w-]+\\.\\w', 'npm' + 'js\\.', 'py' + 'pi\\.org'].join('|')),
  ],
  ['an address in a private network', /\bhttps?:\/\/(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d+\.\d+/],
];
const binary = /\.(binpb|png|jpg|ico|woff2)$/;

test.each(outside)('no file of the project names %s', (_what, pattern) => {
  const found = filesOfProject()
    .filter((path) => !binary.test(path))
    .flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, index) =>
          pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : [],
        ),
    );
  expect(found).toEqual([]);
});
