// What programs rely on: the shape of each JSON answer, exit codes, and that no answer and no log holds a secret.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, expect, inject, test } from 'vitest';
import { runningStack } from '../support/running-stack.ts';
import { schemas } from './answer-schemas.ts';
import { tool } from './tool.ts';

const work = mkdtempSync(join(tmpdir(), 'partnerctl-answers-'));
const ajv = new Ajv2020({ allErrors: true, strict: false });
const canary = 'canary-7f3a-canary';
/** A person's name: the dossier shows it to operators, audit and logs to nobody. */
const contactCanary = 'canary-c0de-contact';
const said: string[] = [];

afterAll(() => rmSync(work, { recursive: true }));

async function answer(schema: keyof typeof schemas, ...words: string[]): Promise<Record<string, unknown>> {
  const { exit, out, err } = await tool(...words, '--json');
  said.push(out, err);
  expect({ exit, err }, words.join(' ')).toEqual({ exit: 0, err: '' });
  const json = JSON.parse(out) as Record<string, unknown>;
  expect(ajv.validate(schemas[schema], json) ? [] : ajv.errors, words.join(' ')).toEqual([]);
  return json;
}

test('every answer keeps to its schema', async () => {
  const [user] = runningStack().users;
  const dossier = [
    '--client-id',
    'answers',
    '--name',
    'Answers',
    '--redirect-uri',
    'https://a.example/cb',
    '--scope',
    'openid',
  ];
  await answer(
    'written',
    'client',
    'register',
    ...dossier,
    '--technical-contact',
    `${contactCanary} <${contactCanary}@a.example>`,
    '--dry-run',
  );
  const made = await answer(
    'written',
    'client',
    'register',
    ...dossier,
    '--with-secret',
    '--to-file',
    join(work, 'one'),
  );
  expect(made.secret).toMatchObject({ way: 'file', secret: null });
  await answer(
    'written',
    'client',
    'edit',
    'answers',
    '--technical-contact',
    `${contactCanary} <${contactCanary}@a.example>`,
  );
  await answer('written', 'client', 'approve', 'answers', '--to', 'draft');
  await answer('written', 'client', 'deactivate', 'answers', '--yes');
  await answer('clients', 'client', 'list');
  await answer('client', 'client', 'show', 'answers');
  await answer('written', 'client', 'secret', 'add', 'answers', '--to-file', join(work, 'two'));
  await answer('secrets', 'client', 'secret', 'list', 'answers');
  await answer('export', 'client', 'export', '--out', join(work, 'clients.yaml'));
  await answer('plan', 'client', 'plan', join(work, 'clients.yaml'));
  await answer('plan', 'client', 'apply', join(work, 'clients.yaml'), '--yes');
  writeFileSync(join(work, 'users.ndjson'), `{"email":"x@y.example","passwordHash":"${canary}"}\n`);
  await answer('user', 'user', 'show', user?.sub ?? '');
  await answer('written', 'user', 'disable', user?.sub ?? '', '--dry-run');
  await answer('written', 'user', 'sign-out', user?.sub ?? '', '--yes');
  await answer('consents', 'consent', 'list', '--client', 'answers');
  await answer('keys', 'key', 'list', '--all');
  await answer('written', 'key', 'rotate', '--step', '--dry-run');
  await answer('written', 'key', 'reencrypt');
  expect(await answer('audit', 'audit', 'list', '--limit', '2')).toMatchObject({ more: true });
  expect(await answer('audit', 'audit', 'list', '--limit', '1000')).toMatchObject({ more: false });
  await answer('verified', 'audit', 'verify');
  await answer('recount', 'designs', 'verify');
  await answer('status', 'status');
});

test.each([
  [5, ['client', 'show', 'nobody']],
  [
    4,
    [
      'client',
      'register',
      '--client-id',
      'answers',
      '--name',
      'A',
      '--redirect-uri',
      'https://a.example/cb',
      '--scope',
      'openid',
    ],
  ],
  [
    2,
    [
      'client',
      'register',
      '--client-id',
      'b',
      '--name',
      'B',
      '--redirect-uri',
      'https://a.example/cb?x=1#y',
      '--scope',
      'openid',
    ],
  ],
  [3, ['status', '--identity', '127.0.0.1:1']],
])('exit code %i, and an error that keeps to its schema', async (code, words) => {
  const { exit, out, err } = await tool(...words, '--json');
  said.push(out, err);
  expect({ exit, out }).toEqual({ exit: code, out: '' });
  expect(ajv.validate(schemas.error, JSON.parse(err)) ? [] : ajv.errors).toEqual([]);
});

test('a rejected record, a secret in a file and a contact show in no answer, no audit entry and no log', async () => {
  const rejected = await tool('user', 'import', join(work, 'users.ndjson'), '--json');
  expect(rejected.exit).toBe(1);
  const audit = await tool('audit', 'list', '--limit', '1000', '--json');
  const logs = join(dirname(inject('stackFile')), 'logs');
  const logged = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'));
  const secrets = ['one', 'two'].map((name) => readFileSync(join(work, name), 'utf8').trim());
  const told = [...said, rejected.out, rejected.err, audit.out, ...logged].join('\n');
  const kept = [audit.out, ...logged].join('\n');
  expect(kept.includes(contactCanary)).toBe(false);
  for (const secret of [...secrets, canary]) expect(told.includes(secret), secret.slice(0, 6)).toBe(false);
});
