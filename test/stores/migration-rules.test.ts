import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

interface Rule {
  readonly says: string;
  readonly forbids: RegExp;
}

const rules: readonly Rule[] = [
  {
    says: 'drops what the version before may use',
    forbids:
      /\bdrop\s+(table|column|schema|view|type|function|trigger|sequence|policy)\b|\btruncate\b(?!\s+on\b)/,
  },
  { says: 'renames', forbids: /\brename\b/ },
  { says: 'changes the type of a column', forbids: /\balter\s+(column\s+)?\w+\s+(set\s+data\s+)?type\b/ },
  { says: 'makes a column NOT NULL', forbids: /\bset\s+not\s+null\b/ },
  { says: 'takes away a default', forbids: /\bdrop\s+default\b/ },
  {
    says: 'adds a NOT NULL column without a default to a table that is there',
    forbids:
      /\badd\s+(column\s+)?(?!constraint\b)\w+(?=(?:[^,()]|\([^()]*(?:\([^()]*\)[^()]*)*\))*\bnot\s+null\b)(?!(?:[^,()]|\([^()]*(?:\([^()]*\)[^()]*)*\))*\b(default|generated)\b)/,
  },
  {
    says: 'binds rows of a table that is there',
    forbids: /\badd\s+(constraint|check|unique|foreign|primary|exclude)\b/,
  },
  { says: 'takes away a right', forbids: /\brevoke\b/ },
];

const indexed = /^create\s+(unique\s+)?index\s+(concurrently\s+)?\w+\s+on\s+(\w+)/;

/** A sentence for each breach of the text of one migration. */
function breachesOf(sql: string): readonly string[] {
  const text = withoutBodies(sql);
  const made = [...text.matchAll(/\bcreate\s+(?:table|function)\s+(\w+)/g)].map(([, name]) => name ?? '');
  return statementsOf(text).flatMap((statement) => {
    // What it creates itself is not used yet.
    const ofItsOwn = made.some((name) => new RegExp(`^(revoke|alter)\\b.*\\b${name}\\b`).test(statement));
    const found = ofItsOwn ? [] : rules.filter(({ forbids }) => forbids.test(statement));
    const [, unique, concurrently, table = ''] = indexed.exec(statement) ?? [];
    const isThere = table !== '' && !made.includes(table);
    return [
      ...found.map(({ says }) => `${says}: ${statement}`),
      ...(isThere && unique ? [`binds rows of a table that is there: ${statement}`] : []),
      ...(isThere && !concurrently ? [`blocks writes while it builds an index: ${statement}`] : []),
    ];
  });
}

/** Without comments, quoted text and bodies of functions. */
function withoutBodies(sql: string): string {
  return sql
    .replace(/--.*$/gm, '')
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .replace(/'(?:[^']|'')*'/g, "''")
    .toLowerCase();
}

function statementsOf(text: string): readonly string[] {
  return text
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '');
}

const services = join(import.meta.dirname, '../../services/');
const files = ['identity', 'design-catalog'].flatMap((service) =>
  readdirSync(`${services}${service}/migrations`)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => `${service}/migrations/${file}`),
);

/** Breaches that are right all the same, by file, each with its reason. */
const exceptions: Readonly<Record<string, readonly { readonly breach: RegExp; readonly reason: string }[]>> =
  {
    'identity/migrations/0002-password-form.sql': [
      { breach: /^blocks writes/, reason: 'it ran before this rule, and no file is edited' },
    ],
  };

/** The migrations of each schema from before it was asked which version they follow. */
const withoutFollowing: Readonly<Record<string, number>> = { identity: 3, 'design-catalog': 1 };

/** The first digits of each file's SHA-256. A database refuses an image whose files differ from those that it ran. */
const hashes: Readonly<Record<string, string>> = {
  'identity/migrations/0001-identity.sql': '36d46873e2fda185',
  'identity/migrations/0002-password-form.sql': '237327bb8811d4ee',
  'identity/migrations/0003-inactive-drafts.sql': 'e8a6a3993723d1db',
  'identity/migrations/0004-refusals.sql': 'f6337339a0a68467',
  'identity/migrations/0005-conduct.sql': 'cc2418cb5e5f408c',
  'identity/migrations/0006-password-hash-form.sql': '40b47f64ab34bb7b',
  'identity/migrations/0007-email-key.sql': '147c67960837237c',
  'identity/migrations/0008-users-of-an-email-key.sql': '07f7694834296abd',
  'identity/migrations/0009-users-without-an-email-key.sql': 'c5868865b695d7b8',
  'identity/migrations/0010-audit-sequence.sql': '0be44f6ef90cd0ee',
  'identity/migrations/0011-superseded-families.sql': '7d404085729c057e',
  'design-catalog/migrations/0001-catalog.sql': 'f387c9631666f4ad',
  'design-catalog/migrations/0002-audit-sequence.sql': '50f284bdddd77c17',
};

test.each(files)('%s is as it was when it first ran', (file) => {
  expect(hash('sha256', readFileSync(services + file)).slice(0, 16)).toBe(hashes[file]);
});

describe('each migration fits the version before', () => {
  test.each(files)('%s', (file) => {
    const allowed = exceptions[file] ?? [];
    const breaches = breachesOf(readFileSync(services + file, 'utf8'));
    expect(breaches.filter((breach) => !allowed.some((one) => one.breach.test(breach)))).toEqual([]);
    // An exception that nothing needs any more would hide the next breach.
    for (const { breach } of allowed) expect(breaches.join('\n')).toMatch(breach);
  });
});

test.each(files)('%s says which version it follows, so that none is skipped', (file) => {
  const [service = '', version] = [file.split('/')[0], Number(/(\d{4})-/.exec(file)?.[1])];
  if (version <= (withoutFollowing[service] ?? 0)) return;
  const [, after] = /^-- after (\d{4})$/m.exec(readFileSync(services + file, 'utf8')) ?? [];
  expect(Number(after)).toBeLessThan(version);
});

describe('the rules fire', () => {
  test.each([
    'alter table users drop column name',
    'ALTER TABLE users DROP COLUMN name',
    'drop table consents',
    'alter table users rename column name to called',
    'alter table users rename to people',
    'alter table users alter column name type varchar(10)',
    'alter table users alter name set not null',
    'alter table users alter column name drop default',
    'alter table users add column a text not null',
    'alter table users add column b text, add column a text not null check (a <> 5)',
    'alter table users add constraint short check (length(name) < 9)',
    'create unique index concurrently one on users (name)',
    'create index one on users (name)',
    'revoke select on users from identity_rw',
    'drop function summarise_events(text[], text[])',
    'truncate users',
  ])('%s', (statement) => {
    expect(breachesOf(`-- as it stands\n${statement};\n`)).toHaveLength(1);
  });

  test.each([
    'alter table users add column a text',
    `alter table users add column a text not null default ''`,
    'alter table users add column a integer not null default 0 check (a in (1, 2)), add column b text',
    'alter table users add column n bigint generated always as identity not null',
    'create table new (a text not null primary key); create unique index one on new (a)',
    'create function f() returns void language sql as $$ drop table users $$; revoke execute on function f() from public',
    'create trigger t before update or delete or truncate on new for each statement execute function f()',
    `comment on table users is 'drop table users'`,
    'create index concurrently one on users (name)',
  ])('and only then: %s', (statement) => {
    expect(breachesOf(statement)).toEqual([]);
  });
});
