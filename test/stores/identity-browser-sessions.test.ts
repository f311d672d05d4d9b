// Browser sessions in Redis, by a clock that the tests set.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AuthorizationDependencies } from '../../services/identity/src/authorization/dependencies.ts';
import { endBrowserSession, getBrowserSession } from '../../services/identity/src/authorization/sign-out.ts';
import { hashSecret } from '../../services/identity/src/domain/secrets.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';
import {
  addPerson,
  answerOf,
  begin,
  type Clock,
  openAuthorizations,
  type Person,
  sessionOf,
} from './identity-authorization.ts';
import { addPartner, openEndpoint, type Partner } from './identity-grant.ts';
import { type IdentityDatabase, openIdentityDatabase, openRedis, serverOf } from './identity-stores.ts';

const hour = 60 * 60_000;
const clock: Clock = { now: Date.now() };
let identity: IdentityDatabase;
let connections: ReplicatedStore[];
let deps: AuthorizationDependencies;
let partner: Partner;
let person: Person;

beforeAll(async () => {
  identity = await openIdentityDatabase(20);
  connections = await openRedis();
  const endpoint = await openEndpoint(identity, connections[0] as ReplicatedStore);
  [deps] = (await openAuthorizations(endpoint, connections, clock)) as [AuthorizationDependencies];
  partner = await addPartner(identity);
});

afterAll(async () => {
  await Promise.all(connections.map(({ close }) => close()));
  await identity.close();
});

beforeEach(async () => {
  clock.now = Date.now();
  person = await addPerson(identity);
});

describe('a browser session', () => {
  const signedIn = async (session: string) => (await getBrowserSession(deps, session)).account !== undefined;
  const use = (session: string) => begin(deps, partner.clientId, { prompt: 'none' }, session);

  test('ends 1 hour after its last use; a look at it is no use [R29.1]', async () => {
    const session = await sessionOf(deps, partner.clientId, person);
    clock.now += hour - 1;
    await use(session);
    clock.now += hour - 1;
    expect(await signedIn(session)).toBe(true);
    clock.now += 1;
    expect(await signedIn(session)).toBe(false);
    expect(answerOf(await use(session)).get('error')).toBe('login_required');
  });

  test('ends 8 hours after the login, used or not, in Redis too [R29.2]', async () => {
    const session = await sessionOf(deps, partner.clientId, person);
    for (let half = 1; half < 16; half += 1) {
      clock.now += hour / 2;
      await use(session);
      expect(await signedIn(session)).toBe(true);
    }
    const ttl = (await serverOf(connections[0]).pttl(`session:${hashSecret(session)}`)) ?? 0;
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(hour / 2);
    clock.now += hour / 2;
    expect(await signedIn(session)).toBe(false);
  });

  test('ends on the sign-out page by its own form alone', async () => {
    const [session, stranger] = [
      await sessionOf(deps, partner.clientId, person),
      await sessionOf(deps, partner.clientId, await addPerson(identity)),
    ];
    const { formToken } = await getBrowserSession(deps, session);
    const foreign = await getBrowserSession(deps, stranger);
    expect(await endBrowserSession(deps, session, foreign.formToken)).toBe(false);
    expect(await endBrowserSession(deps, '', '')).toBe(false);
    expect(await signedIn(session)).toBe(true);
    expect(await endBrowserSession(deps, session, formToken)).toBe(true);
    expect(await signedIn(session)).toBe(false);
    expect(await endBrowserSession(deps, session, formToken)).toBe(true);
  });

  test('a use that comes too late does not bring it back', async () => {
    const session = await sessionOf(deps, partner.clientId, person);
    const found = await deps.findSession(session, clock.now);
    await deps.endSession(session);
    expect(found && (await deps.touchSession(session, found, clock.now))).toBe(false);
    expect(await signedIn(session)).toBe(false);
  });
});
