// The operator port by its contract, called from outside over connect-node: a separate port, callers with a name, refusals with
// sentences, and everything that was done in the audit log. What operators do with it: test/operator.
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { DescService } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { FeedService } from '@course-exchange/proto/feed/v1';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { AuditService } from '@course-exchange/proto/operator/v1/audit';
import { ApprovalState, ClientService, Environment } from '@course-exchange/proto/operator/v1/client';
import { ConductService } from '@course-exchange/proto/operator/v1/conduct';
import { ConsentService } from '@course-exchange/proto/operator/v1/consent';
import { KeyAlgorithm, KeyService } from '@course-exchange/proto/operator/v1/key';
import { RefusalService } from '@course-exchange/proto/operator/v1/refusal';
import { SecretService } from '@course-exchange/proto/operator/v1/secret';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { expect, test } from 'vitest';
import { callService, grpcTransport, refusalOf } from '../support/grpc-client.ts';
import { runningStack } from '../support/stack-file.ts';

const stack = runningStack();
const address = `${stack.operator?.identity}`;
const operator = <S extends DescService>(service: S) => callService(service, address);
const clients = operator(ClientService);

function registration(over: object = {}) {
  return {
    clientId: `wire-${randomBytes(6).toString('hex')}`,
    name: 'Wire & Söhne',
    technicalContact: { name: 'T', email: 't@partner.example' },
    credentialContacts: [{ name: 'C', email: 'c@partner.example' }],
    environments: [{ redirectUris: ['https://wire.example/callback'] }],
    scopes: ['openid'],
    userJourney: 'j',
    logoutRequirements: 'l',
    unlinkingRequirements: 'u',
    retentionRequirements: 'r',
    ...over,
  };
}

test.each([-62_135_596_801n, 253_402_300_800n, -(2n ** 63n), 2n ** 63n - 1n])(
  'a time that is no timestamp (%s s) is a mistake of the caller',
  async (seconds) => {
    const since = { seconds };
    const clientId = stack.partners[0]?.clientId ?? '';
    for (const ask of [
      () => operator(AuditService).listAuditEntries({ filter: { since } }),
      () => operator(AuditService).listAuditEntries({ filter: { until: since } }),
      () => operator(RefusalService).listRefusals({ since }),
      () => operator(RefusalService).listRefusals({ until: since }),
      () => operator(ConductService).getConduct({ clientId, since }),
    ])
      expect(await refusalOf(ask())).toMatchObject({
        errorCode: 'invalid_argument',
        sentences: ['A time is not in the years 1 to 9999.'],
      });
  },
);

test('the audit log has nothing after the highest number', async () => {
  const answer = await operator(AuditService).listAuditEntries({ afterSequence: 2n ** 64n - 1n });
  expect(answer).toMatchObject({ entries: [], more: false });
});

test('every method refuses a caller without a name; a named caller is shown its name', async () => {
  const nameless = grpcTransport(address);
  const services = [ClientService, SecretService, UserService, ConsentService, KeyService, AuditService];
  for (const method of services.flatMap((service) => Object.values(service.method))) {
    const answer =
      method.methodKind === 'unary'
        ? nameless.unary(method, undefined, undefined, undefined, {})
        : nameless
            .stream(method, undefined, undefined, undefined, Readable.from([{}]))
            .then(({ message }) => Array.fromAsync(message));
    const refusal = { status: Code.PermissionDenied, errorCode: 'permission_denied' };
    expect(await refusalOf(answer), method.name).toMatchObject(refusal);
  }
  expect(await clients.describeInstallation({})).toMatchObject({
    issuer: stack.issuer,
    environment: Environment.TEST,
    actor: 'local:test',
  });
});

test('the public ports serve neither operator nor feed, the operator port no partner', async () => {
  const calls = [
    callService(ClientService, `${stack.addresses?.identity}`).listClients({}),
    callService(FeedService, `${stack.addresses?.['design-catalog']}`).getResumePoint({ source: 's' }),
    operator(TokenService).exchangeToken({}),
  ];
  for (const { status } of await Promise.all(calls.map(refusalOf))) expect(status).toBe(Code.Unimplemented);
});

test('mistakes come as sentences, one for each', async () => {
  const refusal = await refusalOf(
    clients.registerClient({
      registration: registration({ scopes: [], environments: [{ redirectUris: ['https://a.example/#x'] }] }),
    }),
  );
  expect(refusal).toMatchObject({ status: Code.InvalidArgument, errorCode: 'invalid_argument' });
  expect(refusal.sentences).toEqual([
    'There is no scope.',
    'Redirect URI "https://a.example/#x" (test): It holds a query or a fragment.',
  ]);
});

test('a step that is too early is refused with the time from which it is possible', async () => {
  const keys = operator(KeyService);
  const { key } = await keys.stageKey({ algorithm: KeyAlgorithm.ES256 });
  const refusal = await refusalOf(keys.activateKey({ kid: key?.kid ?? '' }));
  expect(refusal.errorCode).toBe('refused_until');
  expect(key?.nextStepAt && timestampMs(key.nextStepAt)).toBe(Date.parse(refusal.possibleAt ?? ''));
  await keys.retireKey({ kid: key?.kid ?? '' });
  expect((await keys.listKeys({})).keys.map(({ kid }) => kid)).not.toContain(key?.kid);
});

test('each change is in the audit log, which is followed and verified', async () => {
  const audit = operator(AuditService);
  const given = registration();
  const stop = new AbortController();
  const seen: string[] = [];
  const { head } = await audit.verifyAudit({});
  const follower = (async () => {
    const request = { filter: { clientId: given.clientId }, afterSequence: head?.sequence ?? 0n };
    for await (const { entry } of audit.followAuditEntries(request, { signal: stop.signal })) {
      seen.push(entry?.change?.action ?? '');
      if (seen.length === 2) break;
    }
  })();
  const { client } = await clients.registerClient(
    { registration: given, withSecret: true },
    { headers: { 'x-operator': 'anna', 'x-request-id': 'operator-test-1' } },
  );
  expect(client).toMatchObject({ active: false, approvalState: ApprovalState.DRAFT, version: 1 });
  await follower;
  stop.abort();
  expect(seen).toEqual(['client.register', 'secret.add']);
  const { entries } = await audit.listAuditEntries({ filter: { clientId: given.clientId } });
  expect(entries).toMatchObject([
    { actor: 'local:anna', requestId: 'operator-test-1', clientId: given.clientId },
    { change: { action: 'secret.add' } },
  ]);
  expect(await audit.verifyAudit(head ? { expectedHead: head } : {})).toMatchObject({ intact: true });
});
