// The operator port by its contract, called from outside over connect-node: a port of its own, callers with a name,
// refusals with sentences, dry runs, and everything that was done in the audit log.
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DescService } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { AuditService } from '@course-exchange/proto/operator/v1/audit';
import {
  ApprovalState,
  ClientService,
  Environment,
  PlannedAction,
} from '@course-exchange/proto/operator/v1/client';
import { ConsentService } from '@course-exchange/proto/operator/v1/consent';
import { KeyAlgorithm, KeyService } from '@course-exchange/proto/operator/v1/key';
import { SecretService, SecretState } from '@course-exchange/proto/operator/v1/secret';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { expect, test } from 'vitest';
import { callService, grpcTransport, refusalOf } from '../support/grpc-client.ts';
import { runningStack } from '../support/running-stack.ts';
import { partnerFor, userWho } from '../support/stack-file.ts';
import { clientOf, tokensFor } from './wire-client.ts';

const stack = runningStack();
const address = `${stack.operator?.identity}`;
const operator = <S extends DescService>(service: S) => callService(service, address);
const clients = operator(ClientService);
const secrets = operator(SecretService);

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

test('a caller without a name is refused by every method; one with a name is told which', async () => {
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

test('the public port serves no operator, the operator port no partner', async () => {
  await expect(clientOf('identity', ClientService).listClients({})).rejects.toMatchObject({
    code: Code.Unimplemented,
  });
  await expect(operator(TokenService).exchangeToken({})).rejects.toMatchObject({ code: Code.Unimplemented });
});

test('from registration to first token, with the secret replaced on the way', async () => {
  const given = registration();
  const { clientId } = given;
  const registered = await clients.registerClient({ registration: given, withSecret: true });
  expect(registered.client).toMatchObject({ active: false, approvalState: ApprovalState.DRAFT, version: 1 });
  await clients.setApprovalState({ clientId, state: ApprovalState.TEST, note: 'contract 7' });
  const { client } = await clients.activateClient({ clientId });
  expect(client).toMatchObject({ active: true, approvals: [{ by: 'local:test', note: 'contract 7' }] });

  const added = await secrets.addSecret({ clientId, expiresIn: { seconds: 14n * 86_400n } });
  const attempt = (plain: string | undefined) =>
    clientOf('identity', TokenService)
      .exchangeToken({
        clientId,
        clientSecret: plain ?? '',
        grantType: 'refresh_token',
        refreshToken: 'none',
      })
      .catch((error: unknown) => ConnectError.from(error).metadata.get('error-code'));
  expect(await attempt(registered.secret?.plainSecret)).toBe('invalid_grant');
  expect(await attempt(added.secret?.plainSecret)).toBe('invalid_grant');
  const used = async () => (await secrets.listSecrets({ clientId })).secrets;
  await expect.poll(async () => (await used()).filter(({ lastUsedAt }) => lastUsedAt).length).toBe(2);
  expect((await used()).map(({ state }) => state)).toEqual([SecretState.NEAR_EXPIRY, SecretState.VALID]);

  const old = { clientId, secretId: registered.secret?.secretId ?? '' };
  const refusal = await refusalOf(secrets.retireSecret(old));
  expect(refusal).toMatchObject({ status: Code.FailedPrecondition, errorCode: 'refused_until' });
  expect(Date.parse(refusal.possibleAt ?? '')).toBeGreaterThan(Date.now() + 23 * 3_600_000);
  await secrets.retireSecret({ ...old, evenIfInUse: true });
  expect(await attempt(registered.secret?.plainSecret)).toBe('invalid_client');
  expect(await attempt(added.secret?.plainSecret)).toBe('invalid_grant');
  await clients.deactivateClient({ clientId });
  expect(await attempt(added.secret?.plainSecret)).toBe('invalid_client');
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

test('an exported set is planned unchanged', async () => {
  const exported = await clients.exportClients({});
  const plan = await clients.planClients({ clients: exported.clients });
  expect(plan.clients.length).toBe(exported.clients.length);
  expect(new Set(plan.clients.map(({ action }) => action))).toEqual(new Set([PlannedAction.UNCHANGED]));
});

test('a dry run gives out neither a secret nor a change', async () => {
  const given = registration();
  const answer = await clients.registerClient({ registration: given, withSecret: true, dryRun: true });
  expect(answer.secret).toBeUndefined();
  expect(answer.changes.map(({ action }) => action)).toEqual(['client.register', 'secret.add']);
  expect((await refusalOf(clients.getClient({ clientId: given.clientId }))).errorCode).toBe('not_found');
});

test('an imported user is shown by sub and e-mail', async () => {
  const line = randomBytes(4).toString('hex');
  const users = operator(UserService);
  const user = {
    line: 7n,
    sub: `sub-${line}`,
    email: `${line}@import.example`,
    emailVerified: true,
    name: 'Ü',
    passwordHash: `$2b$10$${'e'.repeat(53)}`,
  };
  expect(await users.importUsers({ users: [user, { ...user, line: 8n, email: 'x' }] })).toMatchObject({
    created: 1,
    rejected: [{ line: 8n }],
  });
  const shown = await users.getUser({ user: { name: { case: 'email', value: user.email.toUpperCase() } } });
  expect(shown.user).toMatchObject({ sub: user.sub, passwordAlgorithm: 'bcrypt' });
});

test('a withdrawn consent ends the refresh token, and the answer tells how long access tokens live', async () => {
  const partner = partnerFor(stack, 'openid', 'email', 'profile');
  const user = userWho(stack, 'typical season');
  const tokens = await tokensFor(partner, user);
  const consents = operator(ConsentService);
  const named = { user: { name: { case: 'sub', value: user.sub } as const }, clientId: partner.clientId };
  const { accessTokensEndAt } = await consents.withdrawConsent(named);
  const left = accessTokensEndAt ? timestampMs(accessTokensEndAt) - Date.now() : 0;
  expect(Math.abs(left - 900_000)).toBeLessThan(10_000);
  const refresh = clientOf('identity', TokenService).exchangeToken({
    clientId: partner.clientId,
    clientSecret: partner.clientSecret,
    grantType: 'refresh_token',
    refreshToken: tokens.refreshToken,
  });
  expect(await refusalOf(refresh)).toMatchObject({ errorCode: 'invalid_grant' });
  const listed = await consents.listConsents({ ...named, includeWithdrawn: true, pageSize: 1 });
  expect(listed.consents[0]?.withdrawnAt).toBeDefined();
});

test('a staged key cannot sign yet, and says from when on', async () => {
  const keys = operator(KeyService);
  const { key } = await keys.stageKey({ algorithm: KeyAlgorithm.ES256 });
  const refusal = await refusalOf(keys.activateKey({ kid: key?.kid ?? '' }));
  expect(refusal.errorCode).toBe('refused_until');
  expect(key?.nextStepAt && timestampMs(key.nextStepAt)).toBe(Date.parse(refusal.possibleAt ?? ''));
  await keys.retireKey({ kid: key?.kid ?? '' });
  expect((await keys.listKeys({})).keys.map(({ kid }) => kid)).not.toContain(key?.kid);
});

test('a stream without a deadline goes on for longer than any request may last', async () => {
  const audit = operator(AuditService);
  const given = registration();
  const stop = new AbortController();
  const filter = { clientId: given.clientId };
  const followed = audit.followAuditEntries({ filter }, { signal: stop.signal, timeoutMs: 0 });
  const first = followed[Symbol.asyncIterator]().next();
  await Promise.race([first, sleep(6_000)]);
  await clients.registerClient({ registration: given }, { headers: { 'x-operator': 'anna' } });
  expect((await first).value?.entry?.change?.action).toBe('client.register');
  stop.abort();
});

test('what was done is in the audit log, which is followed and verified', async () => {
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
  await clients.registerClient(
    { registration: given, withSecret: true },
    { headers: { 'x-operator': 'anna', 'x-request-id': 'operator-test-1' } },
  );
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
