// A partner's backend in one file: it connects a user with openid-client and reads her events and designs. Tokens are kept in
// memory. A real backend encrypts them at rest and locks the refresh across its processes, as services/demo-partner does.
import { createServer } from 'node:http';
import * as oidc from 'openid-client';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT = '9099', REFRESH_BEFORE = '60' } = process.env;
const redirect_uri = process.env.REDIRECT_URI ?? 'http://127.0.0.1:9099/callback';
const [transactions, sessions] = [new Map(), new Map()];

async function discover() {
  const metadata = { id_token_signed_response_alg: 'RS256', [oidc.clockTolerance]: 5 };
  const execute = [oidc.enableNonRepudiationChecks]; // else the ID token's signature is not verified
  if (ISSUER.startsWith('http://127.0.0.1:')) execute.push(oidc.allowInsecureRequests);
  const basic = oidc.ClientSecretBasic(CLIENT_SECRET);
  return oidc.discovery(new URL(ISSUER), CLIENT_ID, metadata, basic, { execute });
}
let client = await discover();
setInterval(async () => (client = await discover().catch(() => client)), 3_600_000).unref();

/** Sends a code or refresh token once. Only our 503 says that it was not consumed: then once more, after Retry-After. */
function once(send) {
  return send().catch(async (error) => {
    const body = await error.cause?.json?.().catch(() => undefined);
    if (error.cause?.status !== 503 || body?.error !== 'temporarily_unavailable') throw error;
    await new Promise((on) => setTimeout(on, 1000 * Number(error.cause.headers.get('retry-after') ?? 3)));
    return send();
  });
}

/** One refresh at a time. The refresh token leaves the session before it is sent; new tokens are kept before their use. */
async function accessToken(session, refused) {
  const { access_token, refresh_token } = session.tokens;
  const isGood = access_token !== refused && session.tokens.expiresIn() > Number(REFRESH_BEFORE);
  if (isGood && !session.refreshing) return access_token;
  session.tokens.refresh_token = undefined;
  session.refreshing ??= once(async () => oidc.refreshTokenGrant(client, refresh_token))
    .then((fresh) => (session.tokens = fresh))
    .finally(() => (session.refreshing = undefined));
  return (await session.refreshing).access_token;
}

const redirect = (response, location, id) =>
  response.writeHead(303, { location, 'set-cookie': `id=${id}; HttpOnly; SameSite=Lax` }).end(); // with https: Secure

async function connect(response) {
  const [id, state, nonce, pkceCodeVerifier] = Array.from({ length: 4 }, oidc.randomState);
  transactions.set(id, { expectedState: state, expectedNonce: nonce, pkceCodeVerifier });
  setTimeout(() => transactions.delete(id), 600_000).unref();
  const code_challenge = await oidc.calculatePKCECodeChallenge(pkceCodeVerifier);
  const pkce = { code_challenge, code_challenge_method: 'S256' };
  const request = { redirect_uri, scope: 'openid', state, nonce, ...pkce };
  redirect(response, oidc.buildAuthorizationUrl(client, request).href, id);
}

async function callback(response, url, id) {
  const checks = transactions.get(id);
  if (!transactions.delete(id)) throw new Error('This login has ended.'); // before anything else
  const tokens = await once(async () => oidc.authorizationCodeGrant(client, url, checks)); // state and ID token too
  const { iss, sub, iat, token_use } = tokens.claims();
  if (token_use !== 'id_token' || iat > Date.now() / 1000 + 5) throw new Error('ID token refused');
  const fresh = oidc.randomState();
  sessions.set(fresh, { tokens, user: { iss, sub } });
  redirect(response, '/events', fresh);
}

async function events(response, { pathname }, id) {
  const session = sessions.get(id) ?? { tokens: { expiresIn: () => 0 } };
  const read = (bearer) => fetch(`${ISSUER}/api${pathname}`, { headers: { authorization: bearer } });
  const token = await accessToken(session);
  let answer = await read(`Bearer ${token}`);
  if (answer.status === 401) answer = await read(`Bearer ${await accessToken(session, token)}`);
  response.writeHead(answer.status).end(await answer.text());
}

createServer((request, response) => {
  const url = new URL(request.url, redirect_uri);
  const id = /\bid=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1];
  const page = { '/connect': connect, '/callback': callback }[url.pathname] ?? events;
  page(response, url, id).catch(({ name }) => response.writeHead(400).end(`${name}: start at /connect.`));
}).listen(Number(PORT), '127.0.0.1', () => console.log(`Open ${new URL('/connect', redirect_uri)}`));
