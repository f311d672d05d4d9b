// Which version of a client an approval is of, and why an edit adds to it.
import { ApprovalState, ClientService, Environment } from '@course-exchange/proto/operator/v1/client';
import { expect, test } from 'vitest';
import { runAgainst } from '../../testing/run.ts';

/** What the writing methods of an installation are asked; its client is in version 7. */
async function runIn(
  environment: Environment,
  line: string,
  approvalState: ApprovalState = ApprovalState.TEST,
) {
  const asked: object[] = [];
  const registration = {
    clientId: 'acme',
    environments: [{ environment, redirectUris: ['https://a.example'] }],
  };
  const client = { registration, approvalState, version: 7 };
  const answer = { client: { ...client, version: 8, warnings: ['Beware.'] } };
  const record = (request: object) => {
    asked.push(request);
    return answer;
  };
  const run = await runAgainst(
    (router) =>
      router.service(ClientService, {
        describeInstallation: () => ({ environment }),
        getClient: () => ({ client }),
        setApprovalState: record,
        activateClient: record,
        deactivateClient: record,
        editClient: record,
      }),
    line.split(' '),
  );
  return { ...run, asked };
}

const { PRODUCTION, TEST } = Environment;

test.each([
  'client approve acme',
  'client approve acme --to approved --note Agreed --dry-run',
  'client activate acme',
  'client activate acme --dry-run --json',
])('in production `%s` needs the version that its operator has seen', async (line) => {
  const { exit, err, asked } = await runIn(PRODUCTION, line);
  expect([exit, asked]).toEqual([2, []]);
  expect(err).toContain('In production, name the version that you have seen.');
  expect(err).toContain('Look at partnerctl client show acme, and give its version with --expected-version.');
  const version = { expectedVersion: 6 };
  expect((await runIn(PRODUCTION, `${line} --expected-version 6`)).asked).toMatchObject([version]);
  expect((await runIn(TEST, `${line} --expected-version 6`)).asked).toMatchObject([version]);
  // Elsewhere the version that the command has read.
  expect((await runIn(TEST, line)).asked).toMatchObject([{ expectedVersion: 7 }]);
});

test.each([
  ['client approve acme --to draft', ApprovalState.TEST],
  ['client approve acme --to test', ApprovalState.APPROVED],
  ['client deactivate acme --yes', ApprovalState.APPROVED],
])('in production `%s` takes away, and needs no version', async (line, state) => {
  expect(await runIn(PRODUCTION, line, state)).toMatchObject({ exit: 0, asked: [{ clientId: 'acme' }] });
});

test('an approval prints the version that it makes, which `activate` takes, and what to look at', async () => {
  const { out } = await runIn(PRODUCTION, 'client approve acme --expected-version 7');
  expect(out).toContain('acme is in the state approved, version 8.\nAttention:\n  - Beware.\n');
});

test('an edit sends the reason', async () => {
  const line = 'client edit acme --add-redirect-uri https://b.example --note Ticket-9';
  expect((await runIn(PRODUCTION, line)).asked).toMatchObject([{ note: 'Ticket-9', expectedVersion: 7 }]);
});
