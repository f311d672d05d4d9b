// Browser sessions in Redis, by a clock that the tests set.
import { beforeEach, describe, expect, test } from 'vitest';
import {
  endSession,
  findSession,
  touchSession,
} from '../../services/identity/src/authorize/session-store.ts';
import {
  endBrowserSession,
  getBrowserSession,
} from '../../services/identity/src/authorize/signed-in-user.ts';
import { hashSecret } from '../../services/identity/src/secrets.ts';
import {
  addPerson,
  answerOf,
  begin,
  type Person,
  sessionOf,
  useAuthorization,
} from './identity-authorization.ts';
import { addPartner } from './identity-grant.ts';
import { serverOf } from './identity-stores.ts';

const hour = 60 * 60_000;
const { identity, redis, clock, deps } = await useAuthorization();
const partner = await addPartner(identity);
let person: Person;
let session: string;

beforeEach(async () => {
  person = await addPerson(identity);
  session = await sessionOf(deps, partner.clientId, person);
});

describe('a browser session', () => {
  const signedIn = async () => (await getBrowserSession(deps, session)).account !== undefined;
  const use = () => begin(deps, partner.clientId, { prompt: 'none' }, session);

  test('ends 1 hour after its last use; a look at it is no use [R29.1]', async () => {
    clock.now += hour - 1;
    await use();
    clock.now += hour - 1;
    expect(await signedIn()).toBe(true);
    clock.now += 1;
    expect(await signedIn()).toBe(false);
    expect(answerOf(await use()).get('error')).toBe('login_required');
  });

  test('ends 8 hours after the login, used or not, in Redis too [R29.2]', async () => {
    for (let half = 1; half < 16; half += 1) {
      clock.now += hour / 2;
      await use();
      expect(await signedIn()).toBe(true);
    }
    const ttl = (await serverOf(redis).pttl(`session:${hashSecret(session)}`)) ?? 0;
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(hour / 2);
    clock.now += hour / 2;
    expect(await signedIn()).toBe(false);
  });

  test('ends on the sign-out page by its own form alone', async () => {
    const stranger = await sessionOf(deps, partner.clientId, await addPerson(identity));
    const { formToken } = await getBrowserSession(deps, session);
    const foreign = await getBrowserSession(deps, stranger);
    expect(await endBrowserSession(deps, session, foreign.formToken)).toBe(false);
    expect(await endBrowserSession(deps, '', '')).toBe(false);
    expect(await signedIn()).toBe(true);
    expect(await endBrowserSession(deps, session, formToken)).toBe(true);
    expect(await signedIn()).toBe(false);
    expect(await endBrowserSession(deps, session, formToken)).toBe(true);
  });

  test('ends by a sign-out in the same millisecond as the login, not by one before it [R13.5]', async () => {
    const signOutAt = (time: number) =>
      identity.sql('update users set signed_out_at = to_timestamp($2::float8 / 1000) where sub = $1', [
        person.sub,
        time,
      ]);
    await signOutAt(clock.now - 1);
    expect(await signedIn()).toBe(true);
    await signOutAt(clock.now);
    expect(await signedIn()).toBe(false);
  });

  test('a use that comes too late does not bring it back', async () => {
    const found = await findSession(deps.redis, session, clock.now);
    await endSession(deps.redis, session);
    expect(found && (await touchSession(deps.redis, session, found, clock.now))).toBe(false);
    expect(await signedIn()).toBe(false);
  });
});
