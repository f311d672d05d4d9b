// A client with seven mistakes, for the rehearsals: it sends a lost POST again, keeps a spent refresh token, takes any state,
// does not compare the nonce, takes `none`, sends the ID token to the API, and refreshes twice at once. The rest is right.
import { createHash, randomBytes } from 'node:crypto';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';

interface Registration {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUris: readonly string[];
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token?: string;
}

const random = () => randomBytes(32).toString('base64url');

export class MistakenClient {
  readonly #issuer: string;
  readonly #partner: Registration;
  readonly #visit: (request: URL) => Promise<URL>;
  readonly #usedCodes = new Set<string>();
  #tokens: Tokens | undefined;

  constructor(issuer: string, partner: Registration, visit: (request: URL) => Promise<URL>) {
    [this.#issuer, this.#partner, this.#visit] = [issuer, partner, visit];
  }

  async walk(refreshes: boolean): Promise<void> {
    const verifier = random();
    const request = new URL(`${this.#issuer}/authorize`);
    request.search = new URLSearchParams({
      response_type: 'code',
      client_id: this.#partner.clientId,
      redirect_uri: this.#redirectUri,
      scope: 'openid',
      state: random(),
      nonce: random(),
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }).toString();
    const callback = await this.#visit(request);
    for (let times = 0; times < 2; times += 1) await this.#finish(callback, verifier);
    await this.#read();
    if (!refreshes) return;
    await this.#refresh();
    await this.#refresh();
    await this.#read();
  }

  get #redirectUri(): string {
    return this.#partner.redirectUris[0] ?? '';
  }

  async #finish(callback: URL, code_verifier: string): Promise<void> {
    const code = callback.searchParams.get('code');
    if (code === null || this.#usedCodes.has(code)) return;
    this.#usedCodes.add(code);
    const grant = { grant_type: 'authorization_code', code, redirect_uri: this.#redirectUri, code_verifier };
    const tokens = await this.#post(grant);
    if (tokens?.id_token && (await this.#isGood(tokens.id_token))) this.#tokens = tokens;
    if (this.#tokens?.id_token) await this.#get('/userinfo', this.#tokens.id_token);
  }

  async #isGood(idToken: string): Promise<boolean> {
    if (decodeProtectedHeader(idToken).alg === 'none') return decodeJwt(idToken).iss === this.#issuer;
    const keys = createRemoteJWKSet(new URL(`${this.#issuer}/.well-known/jwks.json`));
    const wanted = { issuer: this.#issuer, audience: this.#partner.clientId, algorithms: ['RS256'] };
    return jwtVerify(idToken, keys, wanted).then(
      () => true,
      () => false,
    );
  }

  async #refresh(): Promise<void> {
    const refresh_token = this.#tokens?.refresh_token;
    if (!refresh_token) return;
    const once = () => this.#post({ grant_type: 'refresh_token', refresh_token });
    const [fresh] = (await Promise.all([once(), once()])).filter((tokens) => tokens !== undefined);
    this.#tokens = fresh && { ...fresh, refresh_token };
  }

  async #read(): Promise<void> {
    const list = this.#tokens && (await this.#get('/api/events', this.#tokens.access_token));
    if (list?.status === 401) await this.#refresh();
    if (list?.status !== 200) return;
    const [event] = ((await list.json()) as { items: { id: string }[] }).items;
    if (event && this.#tokens) await this.#get(`/api/events/${event.id}/designs`, this.#tokens.access_token);
  }

  #get(path: string, token: string): Promise<Response> {
    return fetch(`${this.#issuer}${path}`, { headers: { authorization: `Bearer ${token}` } });
  }

  /** Undefined if the tokens are refused. */
  async #post(form: Readonly<Record<string, string>>, tries = 2): Promise<Tokens | undefined> {
    const { clientId, clientSecret } = this.#partner;
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    try {
      const sent = { method: 'POST', headers: { authorization }, body: new URLSearchParams(form) };
      const answer = await fetch(`${this.#issuer}/token`, { ...sent, signal: AbortSignal.timeout(3_000) });
      return answer.ok ? ((await answer.json()) as Tokens) : undefined;
    } catch {
      return tries > 1 ? this.#post(form, tries - 1) : undefined;
    }
  }
}
