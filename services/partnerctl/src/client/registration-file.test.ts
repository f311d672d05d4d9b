import { Readable } from 'node:stream';
import { create, equals } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  ApprovalState,
  ClientService,
  DeclaredClientSchema,
  Environment,
} from '@course-exchange/proto/operator/v1/client';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runAgainst } from '../../testing/run.ts';
import { CliError } from '../output/errors.ts';
import { readDeclarations, readRegistration, writeDeclarations } from './registration-file.ts';

/** The mistakes that reading throws. */
function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof CliError) return error.details.mistakes ?? [];
    throw error;
  }
  throw new Error('Nothing was refused.');
}

test('every mistake is reported at once, each with its line', () => {
  const content = 'clientId: acme\nnmae: Acme\nscopes: openid\nname: 42\nstate: gone\n';
  const { mistakes } = readRegistration('acme.yaml', content);
  expect(mistakes).toEqual([
    expect.stringMatching(/^acme.yaml:2: nmae is unknown; known are clientId, name/),
    'acme.yaml:3: scopes must be a list.',
    'acme.yaml:4: name must be text; put it in quotes.',
    'acme.yaml:5: state must be one of draft, test, approved.',
  ]);
});

const bomb = Array.from({ length: 9 }, (_, at) => `b${at}: &a${at + 1} [${Array(9).fill(`*a${at}`).join()}]`);

test.each([
  ['an alias without an anchor', 'clientId: acme\nname: *acme\n', 2],
  ['an alias before its anchor', 'clientId: *a\nname: &a Acme\n', 1],
  ['an alias as a key', 'clientId: acme\n*name : Acme\n', 2],
  ['a merge of no alias', 'clientId: acme\n<<: *all\n', 2],
  ['a merge of a text', '%YAML 1.1\n---\nclientId: &a acme\n<<: *a\n', 4],
  ['an alias bomb', ['a: &a0 [x]', ...bomb].join('\n'), 2],
  ['two documents', 'clientId: acme\n---\nname: Acme\n', 2],
  ['an unknown tag', 'clientId: acme\nname: !acme Acme\n', 2],
  ['a circle', 'clientId: acme\ntechnicalContact: &a { name: *a }\n', 2],
  [
    'an unknown key behind an alias',
    'credentialContacts: [&a { nmae: x }]\nclientId: a\ntechnicalContact: *a\n',
    1,
  ],
  ['a deep map', `clientId: acme\nname: ${'{a: '.repeat(3_000)}`, 2],
])('%s is a named mistake', (_what, content, line) => {
  const read = [
    () => readRegistration('a.yaml', content).mistakes,
    () => problemsOf(() => readDeclarations('a.yaml', content)),
  ];
  for (const mistakes of read.map((one) => one())) expect(mistakes[0]).toMatch(/^a.yaml:\d+: .+/);
  expect(readRegistration('a.yaml', content).mistakes[0]).toMatch(new RegExp(`^a.yaml:${line}: `));
});

test('20,000 mistakes, and one of a megabyte, are a short list', async () => {
  for (const content of [
    '['.repeat(20_000),
    '- x\n'.repeat(20_000),
    `${'x'.repeat(1_000_000)}: 1\n`,
    `scopes:\n${'- {}\n'.repeat(20_000)}`,
  ]) {
    const input = Readable.from([content]);
    const { exit, err } = await runAgainst(() => {}, ['client', 'apply', '-'], { input });
    expect(exit).toBe(2);
    expect(err.split('\n').length).toBeLessThan(60);
    expect(err.length).toBeLessThan(60_000);
  }
});

test('mistakes that the service finds are reported beside those in the file, and nothing is registered', async () => {
  const dryRuns: boolean[] = [];
  const input = Readable.from(['clientId: acme\nnmae: Acme\nscopes: [all]\n']);
  const { exit, err } = await runAgainst(
    (router) =>
      router.service(ClientService, {
        registerClient: ({ dryRun }) => {
          dryRuns.push(dryRun);
          const detail = encodeURIComponent('The scope "all" is unknown.\nThere is no redirect URI.');
          const trailers = { 'error-code': 'invalid_argument', 'error-detail': detail };
          throw new ConnectError('', Code.InvalidArgument, trailers);
        },
      }),
    ['client', 'register', '-'],
    { input },
  );
  expect({ exit, dryRuns }).toEqual({ exit: 2, dryRuns: [true] });
  expect(err.split('\n')).toEqual([
    '- cannot be used.',
    expect.stringContaining('-:2: nmae is unknown'),
    '  - The scope "all" is unknown.',
    '  - There is no redirect URI.',
    '',
  ]);
});

test('a secret in a file is a mistake and is not quoted', () => {
  const { mistakes } = readRegistration('a.yaml', 'clientId: a\nsecret: hunter2\n');
  expect(mistakes.join()).not.toContain('hunter2');
});

test('broken YAML, and a client declared twice, are reported', () => {
  expect(problemsOf(() => readDeclarations('c.yaml', 'clients: [\n'))[0]).toMatch(/^c.yaml:\d: /);
  expect(problemsOf(() => readDeclarations('c.yaml', 'clients: [{clientId: a}, {clientId: a}]'))).toEqual([
    'c.yaml:1: a is declared twice.',
  ]);
});

const line = fc.string({ unit: 'grapheme', maxLength: 30 }).map((words) => words.trim());
const full = line.filter((words) => words !== '');
const contact = fc.record({ name: line, email: line, phone: line });
const declaredClient = fc.record({
  registration: fc.record({
    clientId: fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/),
    name: line,
    technicalContact: contact,
    credentialContacts: fc.array(contact, { maxLength: 2 }),
    environments: fc.array(
      fc.record({
        environment: fc.constant(Environment.TEST),
        redirectUris: fc.array(full, { minLength: 1, maxLength: 2 }),
      }),
      { maxLength: 1 },
    ),
    scopes: fc.subarray(['openid', 'profile', 'email']),
    userJourney: line,
    logoutRequirements: line,
    unlinkingRequirements: line,
    retentionRequirements: line,
  }),
  approvalState: fc.constantFrom(ApprovalState.DRAFT, ApprovalState.TEST, ApprovalState.APPROVED),
  active: fc.boolean(),
});

test('plan reads the file of export back unchanged', () => {
  fc.assert(
    fc.property(declaredClient, (fields) => {
      const client = create(DeclaredClientSchema, fields);
      const [back] = readDeclarations('c.yaml', writeDeclarations([client]));
      return back !== undefined && equals(DeclaredClientSchema, client, back);
    }),
  );
});

test('export writes nothing that controls a terminal', () => {
  const name = 'Acme\u202e\u0085\u200f';
  const client = create(DeclaredClientSchema, { registration: { clientId: 'acme', name } });
  const yaml = writeDeclarations([client]);
  expect(yaml).toContain('"Acme\\u202e');
  expect(yaml).not.toMatch(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
  expect(readDeclarations('c.yaml', yaml)[0]?.registration?.name).toBe(name);
});
