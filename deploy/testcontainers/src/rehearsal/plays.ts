// What scenarios are made of: how an answer is changed, how its ID token is forged, and what that forbids afterwards.
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { Breach, DutyName } from './duties.ts';
import { type Answer, type Asked, type Endpoint, jsonOf } from './request.ts';

export interface Tools {
  /** Published in the key set from the proxy's start, beside the server's own. */
  readonly known: SigningKey;
  /** Has the kid of `known`, and was never published. */
  readonly foreign: SigningKey;
  /** Resolves after `ms`, or when the client has gone. */
  readonly hold: (ms: number) => Promise<void>;
}

/** The request at which a scenario was played, with the server's own answer where it was asked. */
export interface Played {
  readonly asked: Asked;
  readonly own: Answer | undefined;
}

export interface Scenario {
  readonly duty: DutyName;
  readonly play: string;
  readonly expectation: string;
  /** Played at the first of these requests. */
  readonly on: readonly Endpoint[];
  /** Replaces the server's answer, which `forward` gets. Undefined: not at this request. */
  readonly act: (
    asked: Asked,
    forward: () => Promise<Answer>,
    tools: Tools,
    before: Played | undefined,
  ) => Promise<Answer | undefined>;
  /** Whether it is played at a later request too. */
  readonly repeats?: (later: Asked, played: Played) => boolean;
  /** What a later request breaks, beside the duties that always hold. */
  readonly breaks?: (later: Asked, played: Played) => string | undefined;
  /** What the played request itself broke. */
  readonly atEnd?: (played: Played) => Breach | undefined;
  /** The tokens of the played answer: a client that keeps its duty never uses them, or does. */
  readonly tokens?: 'unused' | 'used';
}

const newFlow = 'The client drops its tokens and starts a new authorization flow.';

export const isOf =
  ({ url }: Asked) =>
  (other: Asked) =>
    other.url.pathname === url.pathname;
export const isResource = ({ endpoint }: Asked) => ['events', 'designs', 'user-info'].includes(endpoint);

export const isSameRefresh: NonNullable<Scenario['repeats']> = ({ endpoint, form }, { asked }) =>
  endpoint === 'refresh' && form.get('refresh_token') === asked.form.get('refresh_token');

export function refreshEnds(play: string, act: Scenario['act'], more: Partial<Scenario> = {}): Scenario {
  return { duty: 'never-again', play, expectation: newFlow, on: ['refresh'], act, ...more };
}

/** The server does its work first, so that the refresh token is spent. */
export const afterwards =
  (answer: (own: Answer) => Answer) => async (_asked: Asked, forward: () => Promise<Answer>) =>
    answer(await forward());

export const proxyPage = (status: number, title: string) => ({
  status,
  headers: [['content-type', 'text/html'] as const],
  body: Buffer.from(`<html><head><title>${status} ${title}</title></head></html>`),
});

/** What a server takes for a refresh, so that two at once overlap. */
export const serverMs = 50;
/** Longer than the 3 s that a client should wait at least. */
export const slowMs = 4_000;

export function callbackChanges(
  duty: DutyName,
  play: string,
  change: (callback: URLSearchParams) => void,
  breaks: NonNullable<Scenario['breaks']>,
): Scenario {
  return {
    duty,
    play,
    expectation: 'The client exchanges no code and says that nothing was connected.',
    on: ['browser'],
    act: async ({ url }, forward) => {
      const own = await forward();
      const callback = departure(own, url);
      if (callback === undefined) return undefined;
      if (callback.searchParams.has('code')) change(callback.searchParams);
      const headers = own.headers.filter(([name]) => name.toLowerCase() !== 'location');
      return { ...own, headers: [...headers, ['location', callback.href]] };
    },
    breaks,
  };
}

/** The target to which `answer` sends the browser, if that is away from the issuer. */
export function departure(answer: Answer, from: URL): URL | undefined {
  const location = answer.headers.find(([name]) => name.toLowerCase() === 'location')?.[1];
  const to = location === undefined ? undefined : new URL(location, from);
  return to && to.origin !== from.origin ? to : undefined;
}

/** The exchange succeeds; its ID token is `by`'s, with `changes` to its claims. */
export function idToken(
  duty: DutyName,
  play: string,
  by: (tools: Tools, asked: Asked) => Forgery,
  changes: (now: number) => Readonly<Record<string, unknown>> = () => ({}),
): Scenario {
  return {
    duty,
    play: `The ID token of a code exchange ${play}.`,
    expectation: 'The client refuses the login and uses no token of this answer.',
    on: ['exchange'],
    tokens: 'unused',
    act: async (asked, forward, tools) =>
      withIdToken(await forward(), (token) =>
        forged(token, changes(Math.floor(Date.now() / 1_000)), by(tools, asked)),
      ),
  };
}

export function withIdToken(own: Answer, change: (token: string) => string): Answer | undefined {
  const tokens = jsonOf(own.body) as { id_token?: string } | undefined;
  if (tokens?.id_token === undefined) return undefined;
  return { ...own, body: Buffer.from(JSON.stringify({ ...tokens, id_token: change(tokens.id_token) })) };
}

export function secretOf({ headers, form }: Asked): string {
  const basic = Buffer.from((headers.authorization as string | undefined)?.slice(6) ?? '', 'base64');
  return form.get('client_secret') ?? decodeURIComponent(basic.toString().split(':')[1] ?? '');
}

export const known = ({ known }: Tools) => known;

type Claims = Readonly<Record<string, unknown>>;

/** A key pair, and its public half as the key set has it. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly jwk: Readonly<Record<string, unknown>> & { readonly kid: string };
}

export function newSigningKey(kid: string): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' } };
}

const partOf = (token: string, index: number): Claims | undefined => {
  try {
    return JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString()) as Claims;
  } catch {
    return undefined;
  }
};

/** Undefined if `token` is no JWT. Nothing is verified. */
export const claimsOf = (token: string): Claims | undefined => partOf(token, 1);

/** How a forged token is signed: by a key, by `none`, or by HS256 and the client's secret. */
export type Forgery = SigningKey | { readonly secret: string } | 'none';

/** `token` with `changes` to its claims, signed again. */
export function forged(token: string, changes: Claims, by: Forgery): string {
  const header = { ...partOf(token, 0), ...headerOf(by) };
  const input = [header, { ...claimsOf(token), ...changes }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${input}.${signatureOf(input, by)}`;
}

function headerOf(by: Forgery): Claims {
  if (by === 'none') return { alg: 'none', kid: undefined };
  return 'secret' in by ? { alg: 'HS256', kid: undefined } : { kid: by.jwk.kid };
}

function signatureOf(input: string, by: Forgery): string {
  if (by === 'none') return '';
  if ('secret' in by) return createHmac('sha256', by.secret).update(input).digest('base64url');
  return sign('sha256', Buffer.from(input), by.privateKey).toString('base64url');
}
