// A client with seven mistakes, for the rehearsals: it sends a lost POST again, keeps a spent refresh token, takes any state,
// does not compare the nonce, takes `none`, sends the ID token to the API, and refreshes twice at once. The rest is right.
import { randomUUID } from 'node:crypto';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { authorizeUrl, basic, pkce, type Tokens } from '../support/flow.ts';
import { type Fields, send } from '../support/http.ts';
import type { Partner } from '../support/stack-file.ts';

/** Connects, reads, and in a longer walk refreshes twice and reads again. `visit` goes through the issuer's pages. */
export async function walkWithMistakes(
  issuer: string,
  partner: Partner,
  visit: (request: URL) => Promise<URL>,
  refreshes: boolean,
): Promise<void> {
  const [redirect_uri] = partner.redirectUris;
  let tokens: Tokens | undefined;

  const get = (path: string, token: string) =>
    send(`${issuer}${path}`, { headers: { authorization: `Bearer ${token}` } });

  /** Undefined if the tokens are refused. */
  async function post(form: Fields): Promise<Tokens | undefined> {
    const ask = () => send(`${issuer}/token`, { form, headers: basic(partner), timeoutMs: 3_000 });
    const answer = await ask()
      .catch(ask)
      .catch(() => undefined);
    return answer?.status === 200 ? (answer.json() as Tokens) : undefined;
  }

  async function isGood(idToken: string): Promise<boolean> {
    if (decodeProtectedHeader(idToken).alg === 'none') return decodeJwt(idToken).iss === issuer;
    const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`));
    const wanted = { issuer, audience: partner.clientId, algorithms: ['RS256'] };
    return jwtVerify(idToken, keys, wanted).then(
      () => true,
      () => false,
    );
  }

  async function refresh(): Promise<void> {
    const refresh_token = tokens?.refresh_token;
    if (!refresh_token) return;
    const once = () => post({ grant_type: 'refresh_token', refresh_token });
    const [fresh] = (await Promise.all([once(), once()])).filter((one) => one !== undefined);
    tokens = fresh && { ...fresh, refresh_token };
  }

  async function read(): Promise<void> {
    const list = tokens && (await get('/api/events', tokens.access_token));
    if (list?.status === 401) await refresh();
    if (list?.status !== 200) return;
    const [event] = (list.json() as { items: { id: string }[] }).items;
    if (event && tokens) await get(`/api/events/${event.id}/designs`, tokens.access_token);
  }

  const { verifier: code_verifier, challenge: code_challenge } = pkce();
  const once = { state: randomUUID(), nonce: randomUUID() };
  const parameters = { scope: 'openid', ...once, code_challenge, code_challenge_method: 'S256' };
  const request = new URL(authorizeUrl(`${issuer}/authorize`, partner, parameters));
  const code = (await visit(request)).searchParams.get('code');
  if (code !== null) {
    const fresh = await post({ grant_type: 'authorization_code', code, redirect_uri, code_verifier });
    if (fresh?.id_token && (await isGood(fresh.id_token))) tokens = fresh;
    if (tokens?.id_token) await get('/userinfo', tokens.id_token);
  }
  await read();
  if (!refreshes) return;
  await refresh();
  await refresh();
  await read();
}
