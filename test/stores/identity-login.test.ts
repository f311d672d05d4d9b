// Login and who is accepted without one, on real stores.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AuthorizationDependencies } from '../../services/identity/src/authorization/dependencies.ts';
import { getInteraction } from '../../services/identity/src/authorization/get-interaction.ts';
import type { PresentedForm } from '../../services/identity/src/authorization/held-form.ts';
import { getBrowserSession } from '../../services/identity/src/authorization/sign-out.ts';
import { submitAccountChoice } from '../../services/identity/src/authorization/submit-account-choice.ts';
import { submitConsent } from '../../services/identity/src/authorization/submit-consent.ts';
import { hashSecret } from '../../services/identity/src/domain/secrets.ts';
import type { TokenEndpoint } from '../../services/identity/src/grants/token-endpoint.ts';
import { issueIdToken } from '../../services/identity/src/signing/id-token.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';
import {
  addPerson,
  answerOf,
  begin,
  beginForm,
  type Clock,
  counting,
  logIn,
  openAuthorizations,
  type Person,
  sessionOf,
  signIn,
} from './identity-authorization.ts';
import { addConsent, addPartner, openEndpoint, type Partner } from './identity-grant.ts';
import { type IdentityDatabase, openIdentityDatabase, openRedis, serverOf } from './identity-stores.ts';

const clock: Clock = { now: Date.now() };
let identity: IdentityDatabase;
let connections: ReplicatedStore[];
let endpoint: TokenEndpoint;
let deps: AuthorizationDependencies;
let partner: Partner;
let person: Person;

beforeAll(async () => {
  identity = await openIdentityDatabase(20);
  connections = await openRedis();
  endpoint = await openEndpoint(identity, connections[0] as ReplicatedStore);
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

function loginForm(changes = {}, session = ''): Promise<PresentedForm> {
  return beginForm(deps, partner.clientId, changes, session);
}

describe('login', () => {
  test('is for the e-mail in any letter case; unknown, wrong and disabled look alike [R18.5]', async () => {
    const form = await loginForm();
    const disabled = await addPerson(identity);
    await identity.sql('update users set disabled_at = now() where sub = $1', [disabled.sub]);
    const { seen, counted } = counting([deps]);
    const [by = deps] = counted;
    const rejections = [
      await logIn(by, form, person, { typed: 'wrong' }),
      await logIn(by, form, { email: 'nobody@example.org' }),
      await logIn(by, form, disabled),
      await logIn(by, form, { email: 'nul\0@example.org' }),
    ];
    for (const rejection of rejections)
      expect(rejection).toMatchObject({ kind: 'rejected', reason: 'credentials', retryAfterSeconds: 0 });
    expect(seen.passwords).toBe(4);
    expect(await logIn(deps, form, { email: ` ${person.email.toUpperCase()}` })).toMatchObject({
      kind: 'accepted',
    });
  });

  test('an empty or overlong field is told, and no password is looked at', async () => {
    const form = await loginForm();
    const { seen, counted } = counting([deps]);
    for (const [email, typed] of [
      ['', 'x'],
      [person.email, ''],
      [person.email, 'x'.repeat(1025)],
    ] as const)
      expect(await logIn(counted[0] ?? deps, form, { email }, { typed })).toMatchObject({
        reason: 'incomplete',
      });
    expect(seen.passwords).toBe(0);
  });

  test('gives a fresh session each time and ends the one before', async () => {
    const first = await signIn(deps, await loginForm(), person);
    const again = await signIn(deps, await loginForm({ prompt: 'login' }, first.browserSession), person);
    expect(again.browserSession).not.toBe(first.browserSession);
    expect((await getBrowserSession(deps, first.browserSession)).account).toBeUndefined();
    expect((await getBrowserSession(deps, again.browserSession)).account?.email).toBe(person.email);
    const key = `session:${hashSecret(again.browserSession)}`;
    expect(await serverOf(connections[0]).exists(key, `session:${again.browserSession}`)).toBe(1);
  });

  test('a double click on a login that leaves nothing to ask gives one code', async () => {
    await addConsent(identity, person.sub, partner.clientId);
    const form = await loginForm();
    const outcomes = await Promise.all([1, 2].map(() => logIn(deps, form, person)));
    const codes = outcomes.map((outcome) => answerOf(outcome).get('code'));
    expect(codes[0]).toMatch(/^[A-Za-z0-9_-]{65}$/);
    expect(codes[1]).toBe(codes[0]);
  });

  test('by Back from the consent page replaces who the transaction is about', async () => {
    const other = await addPerson(identity);
    const form = await signIn(deps, await loginForm(), person);
    const next = await signIn(deps, form, other);
    expect(await getInteraction(deps, next)).toMatchObject({
      kind: 'consent',
      account: { email: other.email },
    });
  });

  test('“shared computer”: no session outlives the flow [R29.7]', async () => {
    const signedIn = await signIn(deps, await loginForm(), person);
    const form = await loginForm({ prompt: 'login' }, signedIn.browserSession);
    expect(await logIn(deps, form, person, { forgetMe: true })).toEqual({
      kind: 'accepted',
      browserSession: '',
    });
    expect((await getBrowserSession(deps, signedIn.browserSession)).account).toBeUndefined();
    const move = await submitConsent(deps, { ...form, browserSession: '', decision: 'allow' });
    expect(answerOf(move).get('code')).not.toBeNull();
  });
});

describe('who is accepted without a login form', () => {
  test('prompt=none: login_required, consent_required, then a code [R5.1 R5.2]', async () => {
    const none = { prompt: 'none' };
    expect(answerOf(await begin(deps, partner.clientId, none)).get('error')).toBe('login_required');
    const form = await signIn(deps, await loginForm(), person);
    const session = form.browserSession;
    expect(answerOf(await begin(deps, partner.clientId, none, session)).get('error')).toBe(
      'consent_required',
    );
    await submitConsent(deps, { ...form, decision: 'allow' });
    expect(answerOf(await begin(deps, partner.clientId, none, session)).get('code')).not.toBeNull();
    const aged = { prompt: 'none', maxAge: '0' };
    expect(answerOf(await begin(deps, partner.clientId, aged, session)).get('error')).toBe('login_required');
  });

  test('prompt=login asks one who is signed in again, by name [R5.3]', async () => {
    const { browserSession } = await signIn(deps, await loginForm(), person);
    const form = await loginForm({ prompt: 'login' }, browserSession);
    expect(await getInteraction(deps, form)).toMatchObject({
      kind: 'login',
      email: person.email,
      account: { email: person.email },
    });
    expect((await submitConsent(deps, { ...form, decision: 'allow' })).kind).toBe('next');
    const next = await signIn(deps, form, person);
    expect((await getInteraction(deps, next)).kind).toBe('consent');
  });

  test('a hint at the signed-in user passes, at another asks for a login [R5.9 R5.10]', async () => {
    await addConsent(identity, person.sub, partner.clientId);
    const session = await sessionOf(deps, partner.clientId, person);
    const stranger = await addPerson(identity);
    const none = (idTokenHint: string) =>
      begin(deps, partner.clientId, { prompt: 'none', idTokenHint }, session).then(answerOf);
    expect((await none(await expiredIdToken(person))).get('code')).not.toBeNull();
    const hint = await expiredIdToken(stranger);
    expect((await none(hint)).get('error')).toBe('login_required');
    expect((await none(`${hint.slice(0, -8)}AAAAAAAA`)).get('error')).toBe('invalid_request');
    const form = await loginForm({ idTokenHint: hint }, session);
    expect(await getInteraction(deps, form)).toMatchObject({ kind: 'login', email: '' });
    expect((await logIn(deps, form, person)).kind).toBe('redirect');
  });

  test('select_account goes on as the signed-in user, or ends the session for another [R5.4 R29.3]', async () => {
    await addConsent(identity, person.sub, partner.clientId);
    const { browserSession } = { browserSession: await sessionOf(deps, partner.clientId, person) };
    const select = { prompt: 'select_account' };
    const form = await loginForm(select, browserSession);
    expect((await getInteraction(deps, form)).kind).toBe('account');
    expect((await submitConsent(deps, { ...form, decision: 'allow' })).kind).toBe('next');
    const goOn = await submitAccountChoice(deps, { ...form, useAnotherAccount: false });
    expect(answerOf(goOn.move).get('code')).not.toBeNull();
    const second = await loginForm(select, browserSession);
    const another = await submitAccountChoice(deps, { ...second, useAnotherAccount: true });
    expect(another).toEqual({ move: { kind: 'next' }, sessionEnded: true });
    expect(await getInteraction(deps, second)).toMatchObject({ kind: 'login', account: undefined });
    expect((await getBrowserSession(deps, browserSession)).account).toBeUndefined();
  });

  test('two tabs: a login of the same user in one does not disturb the other', async () => {
    const tab = await signIn(deps, await loginForm(), person);
    const other = await signIn(deps, await loginForm({ prompt: 'login' }, tab.browserSession), person);
    const move = await submitConsent(deps, {
      ...tab,
      browserSession: other.browserSession,
      decision: 'allow',
    });
    expect(answerOf(move).get('code')).not.toBeNull();
  });

  test('two tabs: after a login of somebody else the first asks for a login again', async () => {
    const tab = await signIn(deps, await loginForm(), person);
    const stranger = await addPerson(identity);
    const other = await signIn(deps, await loginForm({ prompt: 'login' }, tab.browserSession), stranger);
    const form = { ...tab, browserSession: other.browserSession };
    expect((await submitConsent(deps, { ...form, decision: 'allow' })).kind).toBe('next');
    expect((await getInteraction(deps, form)).kind).toBe('login');
  });
});

/** An ID token of ours that expired long ago. */
function expiredIdToken({ sub, email }: Person): Promise<string> {
  const asked = { clientId: partner.clientId, nonce: '', authTime: undefined };
  return issueIdToken(endpoint.tokens, { sub, email, emailVerified: true, name: 'Ada' }, asked, 1);
}
