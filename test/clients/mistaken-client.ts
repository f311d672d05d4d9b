// A client with seven mistakes, for the rehearsals: it sends a lost POST again, keeps a spent refresh token, takes any state,
// does not compare the nonce, takes `none`, sends the ID token to the API, and refreshes twice at once. The rest is right.
import { createHash, randomBytes } from 'node:crypto';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { basic, type Tokens } from '../support/flow.ts';
import type { Partner } from '../support/stack-file.ts';

const random = () => randomBytes(32).toString('base64url');

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
    fetch(`${issuer}${path}`, { headers: { authorization: `Bearer ${token}` } });

  /** Undefined if the tokens are refused. */
  async function post(form: Readonly<Record<string, string>>, tries = 2): Promise<Tokens | undefined> {
    try {
      const sent = { method: 'POST', headers: basic(partner), body: new URLSearchParams(form) };
      const answer = await fetch(`${issuer}/token`, { ...sent, signal: AbortSignal.timeout(3_000) });
      return answer.ok ? ((await answer.json()) as Tokens) : undefined;
    } catch {
      return tries > 1 ? post(form, tries - 1) : undefined;
    }
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
    const [event] = ((await list.json()) as { items: { id: string }[] }).items;
    if (event && tokens) await get(`/api/events/${event.id}/designs`, tokens.access_token);
  }

  const code_verifier = random();
  const request = new URL(`${issuer}/authorize`);
  request.search = new URLSearchParams({
    ...{ response_type: 'code', client_id: partner.clientId, redirect_uri, scope: 'openid' },
    ...{ state: random(), nonce: random(), code_challenge_method: 'S256' },
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
  }).toString();
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
