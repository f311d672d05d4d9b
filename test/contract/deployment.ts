// The deployment under test and the shortest ways through it: a browser per person, grants, tokens.
import { randomBytes } from 'node:crypto';
import { test } from 'vitest';
import {
  authorizeUrl,
  basic,
  type Conduct,
  discover,
  logInAndAgree,
  pkce,
  type Tokens,
  token,
  tokensOf,
} from '../support/flow.ts';
import { type Answer, type Fields, send, sendThrough } from '../support/http.ts';
import { runningStack } from '../support/running-stack.ts';
import { type DemoUser, type Partner, partnerFor, typicalUser } from '../support/stack-file.ts';
import { type Departure, openUserAgent, type Page, type UserAgent } from '../support/user-agent.ts';

export const stack = runningStack();
export const issuer = stack.issuer;
/** Where the deployment is called: the issuer's own address, unless it is reached behind its proxy. */
export const address = process.env.CONTRACT_BASE_URL ?? issuer;
if (address !== issuer) sendThrough(issuer, address);
export const oidc = await discover(issuer);

/** The user and the partner of tests that need no special ones. Every stack file names them. */
export const typical = typicalUser(stack);
export const full = partnerFor(stack, 'openid', 'email', 'profile');

export const withoutStores = stack.postgres === undefined || stack.redis === undefined;

/** A test that writes to the stores under the deployment; reported as not proven where they are not given. */
export const storeTest = test.skipIf(withoutStores);

/** A browser that nobody used before. */
export function freshBrowser(options: { readonly from?: string | undefined } = {}): UserAgent {
  return openUserAgent(issuer, options);
}

const browsers = new Map<string, UserAgent>();

/** The browser in which this person stays signed in through the whole suite. */
export function browserOf(user: DemoUser): UserAgent {
  const known = browsers.get(user.email) ?? freshBrowser();
  browsers.set(user.email, known);
  return known;
}

/** Opens an authorization request in a browser. */
export function begin(
  agent: UserAgent,
  partner: Partner,
  parameters: Fields = {},
): Promise<Page | Departure> {
  return agent.visit(authorizeUrl(oidc.authorization_endpoint, partner, parameters));
}

export type GrantOptions = {
  readonly user?: DemoUser;
  readonly partner?: Partner;
  readonly agent?: UserAgent;
  /** Parameters of the request above the plain ones; `code_challenge: undefined` leaves PKCE out. */
  readonly parameters?: Readonly<Record<string, string | undefined>>;
  readonly conduct?: Conduct;
};

export type Grant = {
  readonly code: string;
  readonly partner: Partner;
  readonly redirectUri: string;
  readonly verifier: string | undefined;
  readonly nonce: string;
  readonly departure: Departure;
};

/** A code, as a person who agrees gives it. */
export async function grant(options: GrantOptions = {}): Promise<Grant> {
  const { user = typical, partner = full, parameters = {} } = options;
  const agent = options.agent ?? browserOf(user);
  const { verifier, challenge } = pkce();
  const nonce = randomBytes(12).toString('base64url');
  const plain = { nonce, state: 'st', code_challenge: challenge, code_challenge_method: 'S256' };
  const asked = { ...plain, ...parameters };
  const departure = await logInAndAgree(agent, await begin(agent, partner, asked), user, options.conduct);
  const code = departure.parameters.get('code');
  if (code === null) throw new Error(`No code came: ${departure.location}`);
  const redirectUri = parameters.redirect_uri ?? partner.redirectUris[0];
  const used = asked.code_challenge === challenge ? verifier : undefined;
  return { code, partner, redirectUri, verifier: used, nonce, departure };
}

/** Exchanges a code; `overrides` replace or (undefined) remove fields. */
export function exchange(
  given: Grant,
  overrides: Readonly<Record<string, string | undefined>> = {},
): Promise<Answer> {
  return token(oidc.token_endpoint, given.partner, {
    grant_type: 'authorization_code',
    code: given.code,
    redirect_uri: given.redirectUri,
    code_verifier: given.verifier,
    ...overrides,
  });
}

/** Refreshes as `partner`. */
export function refresh(
  partner: Partner,
  refreshToken: string,
  overrides: Readonly<Record<string, string | undefined>> = {},
): Promise<Answer> {
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken, ...overrides };
  return send(oidc.token_endpoint, { form, headers: basic(partner) });
}

/** Tokens of a fresh grant. */
export async function tokensFor(options: GrantOptions = {}): Promise<Tokens> {
  return tokensOf(await exchange(await grant(options)));
}

const accessTokens = new Map<string, Promise<string>>();

/** An access token of this user, made once for the suite. */
export function accessTokenOf(user: DemoUser, partner: Partner = full): Promise<string> {
  const key = `${user.sub} ${partner.clientId}`;
  const known = accessTokens.get(key) ?? tokensFor({ user, partner }).then((tokens) => tokens.access_token);
  accessTokens.set(key, known);
  return known;
}

/** GETs a path of the issuer with a bearer token. */
export function api(path: string, accessToken: string): Promise<Answer> {
  return send(`${issuer}${path}`, {
    headers: { authorization: `Bearer ${accessToken}`, accept: 'application/json' },
  });
}
