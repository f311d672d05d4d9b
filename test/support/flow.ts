// The authorization-code flow as a partner and a person walk it: authorize → code → tokens → refresh, and what tokens open.
import { createHash, randomBytes } from 'node:crypto';
import { type Answer, type Fields, formEncoded, send } from './http.ts';
import { type DemoUser, type Partner, partnerFor, type StackFile, userWho } from './stack-file.ts';
import { type Departure, type Form, openUserAgent, type Page, type UserAgent } from './user-agent.ts';

type Endpoint = 'issuer' | 'authorization_endpoint' | 'token_endpoint' | 'userinfo_endpoint' | 'jwks_uri';
export type Discovery = Readonly<Record<string, unknown> & Record<Endpoint, string>>;

type Step = Page | Departure;
type Login = Pick<DemoUser, 'email' | 'password'>;

/** What the person does on the pages; `none` leaves the consent page as it is. */
export type Conduct = { readonly decision?: 'allow' | 'deny' | 'none'; readonly forgetMe?: boolean };

export type Tokens = Readonly<
  Record<'access_token' | 'refresh_token' | 'token_type' | 'scope', string> & {
    expires_in: number;
    id_token?: string;
  }
>;

export async function discover(issuer: string): Promise<Discovery> {
  const answer = await send(`${issuer}/.well-known/openid-configuration`);
  if (answer.status !== 200) throw new Error(`${issuer} answers discovery with ${answer.status}.`);
  return answer.json() as Discovery;
}

export function pkce() {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** The address of an authorization request: the plain parameters of `partner`, with `overrides` above them. */
export function authorizeUrl(endpoint: string, partner: Partner, overrides: Fields = {}): string {
  const plain = {
    response_type: 'code',
    client_id: partner.clientId,
    redirect_uri: partner.redirectUris[0],
    scope: partner.scopes.join(' '),
  };
  return `${endpoint}?${formEncoded(Array.isArray(overrides) ? overrides : { ...plain, ...overrides })}`;
}

/** Walks the pages until the issuer sends the browser away: logs in, stays who one is, decides. */
export async function logInAndAgree(agent: UserAgent, start: Step, user: Login, conduct: Conduct = {}) {
  const at = await walkOn(agent, start, user, conduct);
  if (at.kind === 'departure') return at;
  throw new Error(`No form to go on with (${at.answer.status}): ${at.text.slice(0, 300)}`);
}

/** The same, as far as it goes: to a page without a form to go on with, or a failure. */
export async function walkOn(agent: UserAgent, start: Step, user: Login, conduct: Conduct = {}) {
  const { decision = 'allow' } = conduct;
  let at = start;
  for (let step = 0; step < 6 && at.kind === 'page' && at.answer.status < 500; step++) {
    const account = formWith(at, 'choice', 'continue');
    const consent = formWith(at, 'decision', decision);
    if (loginForm(at)) at = await logIn(agent, at, user, conduct);
    else if (account) at = await agent.submit(at, account, {}, 'choice=continue');
    else if (consent) at = await agent.submit(at, consent, {}, `decision=${decision}`);
    else break;
  }
  return at;
}

export function logIn(agent: UserAgent, page: Page, { email, password }: Login, conduct: Conduct = {}) {
  const form = loginForm(page);
  if (!form) throw new Error(`No login form (${page.answer.status}): ${page.text.slice(0, 300)}`);
  const box = form.fields.find((field) => field.type === 'checkbox');
  const forget = conduct.forgetMe && box ? { [box.name]: box.value } : {};
  return agent.submit(page, form, { email, password, ...forget });
}

export function loginForm(page: Page): Form | undefined {
  return page.forms.find((form) => form.fields.some((field) => field.type === 'password'));
}

/** The form with a button or field of this name and value, if the page has one. */
export function formWith(page: Page, name: string, value: string): Form | undefined {
  return page.forms.find((form) =>
    [...form.buttons, ...form.fields].some((field) => field.name === name && field.value === value),
  );
}

/** HTTP Basic with both parts form-encoded first (RFC 6749 §2.3.1). */
export function basic(partner: Pick<Partner, 'clientId' | 'clientSecret'>) {
  const [id = '', secret = ''] = [partner.clientId, partner.clientSecret].map(encodeURIComponent);
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

export function token(endpoint: string, partner: Partner, form: Fields): Promise<Answer> {
  return send(endpoint, { form, headers: basic(partner) });
}

/** The tokens of an answer that must be 200. */
export function tokensOf(answer: Answer): Tokens {
  if (answer.status !== 200) throw new Error(`The token endpoint answered ${answer.status} ${answer.text}`);
  return answer.json() as unknown as Tokens;
}

export type Caller = Awaited<ReturnType<typeof openCaller>>;

/** A refresh token of the right form, so that identity looks it up in Redis. */
export const unknownToken = 'A'.repeat(65);

/** The person is the demo user whose `about` holds these words. */
export async function openCaller(
  stack: Pick<StackFile, 'issuer' | 'partners' | 'users'>,
  about = 'typical season',
) {
  const discovery = await discover(stack.issuer);
  const partner = partnerFor(stack, 'openid', 'email', 'profile');
  const user = userWho(stack, about);
  const ask = (form: Readonly<Record<string, string>>) => token(discovery.token_endpoint, partner, form);

  /** The form that exchanges a code which the person just agreed to; `parameters` are those of the request besides. */
  async function codeForm(
    agent = openUserAgent(stack.issuer),
    parameters: Readonly<Record<string, string>> = {},
  ): Promise<Readonly<Record<string, string>>> {
    const start = await agent.visit(authorizeUrl(discovery.authorization_endpoint, partner, parameters));
    const departure = await logInAndAgree(agent, start, user);
    const [redirect_uri] = partner.redirectUris;
    return { grant_type: 'authorization_code', code: departure.parameters.get('code') ?? '', redirect_uri };
  }

  return {
    discovery,
    partner,
    user,
    ask,
    codeForm,
    refresh: (refresh_token: string): Promise<Answer> => ask({ grant_type: 'refresh_token', refresh_token }),
    newTokens: async (agent?: UserAgent): Promise<Tokens> => tokensOf(await ask(await codeForm(agent))),
    events: (accessToken: string): Promise<Answer> =>
      send(`${stack.issuer}/api/events`, { headers: { authorization: `Bearer ${accessToken}` } }),
  };
}
