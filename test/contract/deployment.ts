// The deployment under test and the shortest ways through it: a browser per person, grants, tokens, and the users and
// partners that single tests need. A deployment may name fewer than the demo data do: a test that asks for more is skipped.
import { randomBytes } from 'node:crypto';
import { TestRunner, test } from 'vitest';
import * as flow from '../support/flow.ts';
import { type Answer, type Fields, send, sendThrough } from '../support/http.ts';
import * as stackFile from '../support/stack-file.ts';
import { openUserAgent, type UserAgent } from '../support/user-agent.ts';

type DemoUser = stackFile.DemoUser;
type Partner = stackFile.Partner;

export const stack = stackFile.runningStack();
export const issuer = stack.issuer;
/** The deployment is called here: at the issuer's address, unless it is reached behind its proxy. */
export const address = process.env.CONTRACT_BASE_URL ?? issuer;
if (address !== issuer) sendThrough(issuer, address);
export const oidc = await flow.discover(issuer);

/** The user and the partner of tests that need no special ones. Every stack file names them. */
export const typical = stackFile.typicalUser(stack);
export const full = stackFile.partnerFor(stack, 'openid', 'email', 'profile');

export const withoutStores = stack.postgres === undefined || stack.redis === undefined;

/** A test that writes to the stores under the deployment; reported as skipped if they are not given. */
export const storeTest = test.skipIf(withoutStores);

export const freshBrowser = (): UserAgent => openUserAgent(issuer);

const browsers = new Map<string, UserAgent>();

/** The browser in which this person stays signed in through the whole suite. */
export function browserOf({ email }: DemoUser): UserAgent {
  const browser = browsers.get(email) ?? freshBrowser();
  browsers.set(email, browser);
  return browser;
}

export const begin = (agent: UserAgent, partner: Partner, parameters: Fields = {}) =>
  agent.visit(flow.authorizeUrl(oidc.authorization_endpoint, partner, parameters));

type Overrides = Readonly<Record<string, string | undefined>>;

type GrantOptions = {
  readonly user?: DemoUser;
  readonly partner?: Partner;
  readonly agent?: UserAgent;
  /** Parameters of the request above the plain ones; `code_challenge: undefined` leaves PKCE out. */
  readonly parameters?: Overrides;
};

/** A code, as a person who agrees gives it. */
export async function grant(options: GrantOptions = {}) {
  const { user = typical, partner = full, agent = browserOf(user), parameters = {} } = options;
  const { verifier, challenge } = flow.pkce();
  const nonce = randomBytes(12).toString('base64url');
  const plain = { nonce, state: 'st', code_challenge: challenge, code_challenge_method: 'S256' };
  const asked = { ...plain, ...parameters };
  const departure = await flow.logInAndAgree(agent, await begin(agent, partner, asked), user);
  const code = departure.parameters.get('code');
  if (code === null) throw new Error(`No code came: ${departure.location}`);
  const redirectUri = parameters.redirect_uri ?? partner.redirectUris[0];
  const used = asked.code_challenge === challenge ? verifier : undefined;
  return { code, partner, redirectUri, verifier: used, nonce, departure };
}

/** Exchanges a code; `overrides` replace or (undefined) remove fields. */
export const exchange = (
  { code, redirectUri: redirect_uri, verifier: code_verifier, partner }: Awaited<ReturnType<typeof grant>>,
  overrides: Overrides = {},
): Promise<Answer> => {
  const form = { grant_type: 'authorization_code', code, redirect_uri, code_verifier };
  return flow.token(oidc.token_endpoint, partner, { ...form, ...overrides });
};

export const refresh = (partner: Partner, refresh_token: string, overrides: Overrides = {}) =>
  flow.token(oidc.token_endpoint, partner, { grant_type: 'refresh_token', refresh_token, ...overrides });

export async function tokensFor(options: GrantOptions = {}): Promise<flow.Tokens> {
  return flow.tokensOf(await exchange(await grant(options)));
}

const accessTokens = new Map<string, Promise<string>>();

/** An access token of this user, made once for the suite. */
export function accessTokenOf(user: DemoUser, partner: Partner = full): Promise<string> {
  const key = `${user.sub} ${partner.clientId}`;
  const token = accessTokens.get(key) ?? tokensFor({ user, partner }).then((tokens) => tokens.access_token);
  accessTokens.set(key, token);
  return token;
}

export function api(path: string, accessToken: string): Promise<Answer> {
  return send(`${issuer}${path}`, {
    headers: { authorization: `Bearer ${accessToken}`, accept: 'application/json' },
  });
}

/** What `find` gives; the running test is skipped where the stack file names nothing of the kind. */
function orSkip<Found>(find: () => Found): Found {
  try {
    return find();
  } catch (error) {
    if (error instanceof stackFile.NotGiven) TestRunner.getCurrentTest()?.context.skip(error.message);
    throw error;
  }
}

/** Those that are `found`, at least one, so that no test passes over nothing. */
export function orNone<Item>(found: readonly Item[], what: string): readonly [Item, ...Item[]] {
  return orSkip(() => {
    if (found.length === 0) throw new stackFile.NotGiven(`The stack file names no ${what}.`);
    return found as readonly [Item, ...Item[]];
  });
}

export const userWho = (about: string) => orSkip(() => stackFile.userWho(stack, about));

export const partnerFor = (...scopes: string[]) => orSkip(() => stackFile.partnerFor(stack, ...scopes));

/** Another active partner with the rights of `full`, to try its tokens. */
export function twinPartner(): Partner {
  const twins = stackFile
    .partnersFor(stack, ...full.scopes)
    .filter((twin) => twin.clientId !== full.clientId);
  return orNone(twins, 'second active partner with the same scopes')[0];
}

export function inactivePartner(): Partner {
  const inactive = stack.partners.filter(({ active }) => !active);
  return orNone(inactive, 'inactive partner')[0];
}
