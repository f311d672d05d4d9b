// The atomic steps of codes and refresh families, raced over connections of their own.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TokenEndpoint } from '../../services/identity/src/grants/token-endpoint.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';
import {
  addConsent,
  addPartner,
  addUser,
  issueCode,
  openEndpoint,
  outcomeOf,
  type Partner,
  requestExchange,
  requestRefresh,
} from './identity-grant.ts';
import { type IdentityDatabase, openIdentityDatabase, openRedis } from './identity-stores.ts';

const racers = 60;
let identity: IdentityDatabase;
let connections: ReplicatedStore[];
let endpoints: TokenEndpoint[];
let partner: Partner;
let issue: () => Promise<string>;

beforeAll(async () => {
  identity = await openIdentityDatabase(50);
  connections = await openRedis(racers);
  const [first] = connections as [ReplicatedStore];
  const endpoint = await openEndpoint(identity, first);
  endpoints = connections.map((redis) => ({ ...endpoint, redis }));
  partner = await addPartner(identity);
  const sub = await addUser(identity);
  const consentId = await addConsent(identity, sub, partner.clientId);
  issue = () => issueCode(first, { sub, consentId, clientId: partner.clientId });
});

afterAll(async () => {
  await Promise.all(connections.map(({ close }) => close()));
  await identity.close();
});

function only(endpoint: TokenEndpoint | undefined): TokenEndpoint {
  if (endpoint === undefined) throw new Error('no connection');
  return endpoint;
}

test(`of ${racers} exchanges of one code at once exactly one wins, the others are invalid_grant [R9.2 R9.3]`, async () => {
  const code = await issue();
  const outcomes = await Promise.all(
    endpoints.map((endpoint) => outcomeOf(requestExchange(endpoint, partner, code))),
  );
  expect(outcomes.filter((outcome) => outcome === 'tokens')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'invalid_grant')).toHaveLength(racers - 1);
});

test(`of ${racers} refreshes with one token at once exactly one wins and its successor lives [R11.2]`, async () => {
  const begun = await requestExchange(only(endpoints[0]), partner, await issue());
  const answers = await Promise.allSettled(
    endpoints.map((endpoint) => requestRefresh(endpoint, partner, begun.refreshToken)),
  );
  const won = answers.filter((answer) => answer.status === 'fulfilled');
  expect(won).toHaveLength(1);
  const successor = won[0]?.value.refreshToken ?? '';
  expect(await outcomeOf(requestRefresh(only(endpoints[1]), partner, successor))).toBe('tokens');
});

test('a code that its client presents again is refused, and its refresh token is revoked [R10.1] [R10.2]', async () => {
  const endpoint = only(endpoints[0]);
  const code = await issue();
  const begun = await requestExchange(endpoint, partner, code);
  const rotated = await requestRefresh(endpoint, partner, begun.refreshToken);
  expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('invalid_grant');
  expect(await outcomeOf(requestRefresh(endpoint, partner, rotated.refreshToken))).toBe('invalid_grant');
});

test('another client that presents a consumed code revokes nothing (R10)', async () => {
  const endpoint = only(endpoints[0]);
  const stranger = await addPartner(identity);
  const code = await issue();
  const begun = await requestExchange(endpoint, partner, code);
  expect(await outcomeOf(requestExchange(endpoint, stranger, code))).toBe('invalid_grant');
  expect(await outcomeOf(requestRefresh(endpoint, partner, begun.refreshToken))).toBe('tokens');
});
