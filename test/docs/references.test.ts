import { dirname, join, normalize } from 'node:path';
import { alerts } from '@course-exchange/observability/rules';
import { errorStatuses } from '@course-exchange/rules/error-codes';
import { describe, expect, test } from 'vitest';
import { redirectedErrors } from '../../services/identity/src/authorize/response.ts';
import { codeSpans, documents, exists, filesOfProject, read, section, tableRows } from './documents.ts';

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
/** A document's short paths begin here, besides its folder and the repository. */
const bases: Readonly<Record<string, readonly string[]>> = {
  'docs/partner-guide.md': ['services/demo-partner/src'],
  'docs/architecture.md': ['services/identity/src', 'services/identity/src/keys'],
  'CONTRIBUTING.md': [
    'services/gateway/src/routes',
    'services/identity/src',
    'services/identity/src/keys',
    'services/partnerctl/src',
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
    const links = [...text.matchAll(/\]\((?!https?:|mailto:)([^)#]*)(?:#([^)]*))?\)/g)];
    const broken = links.filter(([, target, anchor]) => {
      const file = target ? normalize(join(dirname(document), target)) : document;
      return !exists(file) || (anchor !== undefined && !anchors(read(file)).includes(anchor));
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  test('names files and folders that exist', () => {
    const named = codeSpans(text).filter(
      (span) => (looksLikeFile.test(span) || looksLikeFolder.test(span)) && !madeLater.includes(span),
    );
    const roots = ['.', dirname(document), ...(bases[document] ?? [])];
    expect(named.filter((path) => !roots.some((base) => exists(join(base, path))))).toEqual([]);
  });

  test('names commands that exist', () => {
    const named = [...text.matchAll(/npx --yes pnpm@12 (\w[\w:-]*)/g)].map(([, script = '']) => script);
    expect(named.filter((script) => script !== 'exec' && scripts[script] === undefined)).toEqual([]);
  });
});

test('docs/partner-guide.md explains each error code, and no other', () => {
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

test('docs/on-call.md has one heading for each alert, and no heading for an alert that does not exist', () => {
  const headings = [...read('docs/on-call.md').matchAll(/^#+ (CourseExchange\w*)$/gm)].map(
    ([, name]) => name,
  );
  expect(headings.toSorted()).toEqual([...new Set(alerts.map(({ alert }) => alert))].toSorted());
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
  const named = (path: string) =>
    read(path)
      .split('\n')
      .filter((line) => pattern.test(line));
  const texts = filesOfProject().filter((path) => !binary.test(path));
  expect(texts.flatMap((path) => named(path).map((line) => `${path}: ${line.trim()}`))).toEqual([]);
});
