// What a partner and a person ask of the system. Each operation is taken down in the history, its answer in one word.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { authorizeUrl, basic, discover, walkOn } from '../support/flow.ts';
import { type Answer, send } from '../support/http.ts';
import { type DemoUser, partnerFor, type StackFile } from '../support/stack-file.ts';
import { openUserAgent, type UserAgent } from '../support/user-agent.ts';
import type { Operation, SecretId } from './checker.ts';
import type { Kind } from './table.ts';

/** Milliseconds after which an answer is given up; a partner waits for 3 s at least. */
const patience = { login: 14_000, other: 6_000 };

/** Status, and body or redirect, of what an operation gets while all is well. */
const good: Readonly<Record<Kind, RegExp>> = {
  exchange: /^200 \{"access_token":.*"refresh_token":/,
  refresh: /^200 \{"access_token":.*"refresh_token":/,
  login: /^303 http.*[?&]code=/,
  authorize: /^303 http.*[?&]code=/,
  'user-info': /^200 \{"sub":/,
  'wrong secret': /^401 \{"error":"invalid_client"\}$/,
  events: /^200 \{"items":\[\{"id":"([^"]+)"/,
  designs: /^200 \{"event":\{/,
  'forged token': /^401 \{"error":"invalid_token"\}$/,
  discovery: /^200 \{"issuer":/,
  keys: /^200 \{"keys":\[\{/,
};

/** What an ingress says when it has no gateway to ask is no answer of ours. */
function withoutIngress(answer: Answer): Answer | undefined {
  const isOurs = ![502, 504].includes(answer.status) || answer.headers['x-request-id'] !== undefined;
  return isOurs ? answer : undefined;
}

function wordFor(kind: Kind, { status, headers, text }: Answer): string {
  if (good[kind].test(`${status} ${headers.location ?? text}`)) return 'good';
  if (status === 400 && text === '{"error":"invalid_grant"}') return 'refused';
  if (status === 503 && Number(headers['retry-after']) >= 1 && isRefusal(kind, { headers, text }))
    return 'unavailable';
  return `${status} ${/"error":"(\w+)"/.exec(text)?.[1] ?? headers['content-type'] ?? ''}`;
}

/** A person gets a page without a word of the protocol, by which support finds the request (R14.4). */
function isRefusal(kind: Kind, { headers, text }: Pick<Answer, 'headers' | 'text'>): boolean {
  if (kind !== 'login' && kind !== 'authorize') return text === '{"error":"temporarily_unavailable"}';
  const isPage = String(headers['content-type']).startsWith('text/html');
  return isPage && text.includes(`${headers['x-request-id']}`) && !/redis|invalid_|error code/i.test(text);
}

const secretId = (secret: string): SecretId =>
  createHash('sha256').update(secret).digest('base64url').slice(0, 12) as SecretId;

export interface Outcome {
  readonly answer: string;
  readonly secret?: string;
  readonly accessToken?: string;
  /** Milliseconds until it may be asked again. */
  readonly waitMs: number;
}

export type Partner = Awaited<ReturnType<typeof openPartner>>;

export async function openPartner(stack: StackFile, operations: Operation[]) {
  const { issuer } = stack;
  const discovery = await discover(issuer);
  const partner = partnerFor(stack, 'openid', 'email', 'profile');
  const [redirect_uri] = partner.redirectUris;
  let eventId = '';

  async function take(
    kind: Kind,
    sent: Pick<Operation, 'presents' | 'person'>,
    ask: () => Promise<Answer>,
  ): Promise<Outcome> {
    const called = performance.now();
    const came = await ask().then(withoutIngress, () => undefined);
    const answer = came === undefined ? 'none' : wordFor(kind, came);
    eventId = (kind === 'events' && good.events.exec(`${came?.status} ${came?.text}`)?.[1]) || eventId;
    const given = answer === 'good' && came !== undefined ? givenBy(kind, came) : {};
    const brings = given.secret === undefined ? undefined : secretId(given.secret);
    operations.push({ kind, called, answered: performance.now(), answer, ...sent, brings });
    return { answer, waitMs: 1_000 * Number(came?.headers['retry-after'] ?? 0.5), ...given };
  }

  const post = (as: typeof partner, form: Readonly<Record<string, string>>) =>
    send(discovery.token_endpoint, { form, headers: basic(as), timeoutMs: patience.other });
  const present = (kind: 'exchange' | 'refresh', secret: string, form: Readonly<Record<string, string>>) =>
    take(kind, { presents: secretId(secret) }, () => post(partner, form));
  const read = (kind: Kind, url: string, headers: Readonly<Record<string, string>> = {}) =>
    take(kind, {}, () => send(url, { headers, timeoutMs: patience.other }));
  const bearer = (accessToken: string) => ({ authorization: `Bearer ${accessToken}` });

  return {
    clientId: partner.clientId,
    /** To a code: through the login form, unless `agent` is logged in. */
    authorize: (user: DemoUser, agent?: UserAgent): Promise<Outcome> =>
      take(agent ? 'authorize' : 'login', { person: user.email }, async () => {
        const browser = agent ?? openBrowser(issuer);
        const start = await browser.visit(authorizeUrl(discovery.authorization_endpoint, partner));
        return (await walkOn(browser, start, user)).answer;
      }),
    exchange: (code: string) =>
      present('exchange', code, { grant_type: 'authorization_code', code, redirect_uri }),
    refresh: (refresh_token: string) =>
      present('refresh', refresh_token, { grant_type: 'refresh_token', refresh_token }),
    /** What spends nothing, with this access token. */
    reads: (accessToken: () => string) => [
      () => read('user-info', discovery.userinfo_endpoint, bearer(accessToken())),
      () => read('events', `${issuer}/api/events`, bearer(accessToken())),
      async () =>
        eventId && read('designs', `${issuer}/api/events/${eventId}/designs`, bearer(accessToken())),
      () => read('forged token', `${issuer}/api/events`, bearer('forged')),
      () => read('discovery', `${issuer}/.well-known/openid-configuration`),
      () => read('keys', discovery.jwks_uri),
      () =>
        take('wrong secret', {}, () =>
          post({ ...partner, clientSecret: 'wrong' }, { grant_type: 'refresh_token', refresh_token: 'x' }),
        ),
    ],
    /** The operator withdraws the consent of `user`. True when that was acknowledged. */
    withdraw: async (user: DemoUser, ask: (user: DemoUser, clientId: string) => Promise<unknown>) => {
      const called = performance.now();
      const answer = await ask(user, partner.clientId).then(
        () => 'good',
        () => 'none',
      );
      const [answered, person] = [performance.now(), user.email];
      operations.push({ kind: 'withdrawal', called, answered, answer, person });
      return answer === 'good';
    },
  };
}

export const openBrowser = (issuer: string): UserAgent =>
  openUserAgent(issuer, { timeoutMs: patience.login });

function givenBy(kind: Kind, { headers, json }: Answer): Pick<Outcome, 'secret' | 'accessToken'> {
  const query = new URLSearchParams(headers.location?.split('?')[1]);
  const code = query.get('code');
  if (code !== null) return { secret: code };
  if (kind !== 'exchange' && kind !== 'refresh') return {};
  const { refresh_token, access_token } = json() as Readonly<Record<string, string>>;
  return { secret: `${refresh_token}`, accessToken: `${access_token}` };
}

/** Asks until there is a verdict: again when the answer says so. */
export async function untilJudged(ask: () => Promise<Outcome>): Promise<Outcome> {
  let outcome = await ask();
  for (let more = 0; more < 20 && ['unavailable', 'none'].includes(outcome.answer); more += 1) {
    await sleep(outcome.waitMs);
    outcome = await ask();
  }
  return outcome;
}
