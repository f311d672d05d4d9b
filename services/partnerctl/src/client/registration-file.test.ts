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
