// The duties of a client in the authorization-code flow (specification §5), against a real issuer on loopback. Those that a
// rehearsal plays are tested there: test/clients/rehearsals.test.ts.
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, createBench, createBrowser, type TestIssuer } from '../testing/bench.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await createBench();
});
afterEach(() => bench.close());

const stored = (sub: string) => bench.partner.connections.find({ iss: bench.issuer.issuer, sub });

describe('a good flow', () => {
  it('sends state, nonce and an S256 challenge whose verifier reaches the token endpoint', async () => {
    const browser = createBrowser(bench);
    const query = await browser.begin();
    expect(query.get('code_challenge_method')).toBe('S256');
    expect(query.get('state')?.length).toBeGreaterThanOrEqual(43);
    expect(query.get('nonce')?.length).toBeGreaterThanOrEqual(43);
    await browser.get(`/callback?code=code-canary&state=${query.get('state')}`);
    const exchange = bench.issuer.requests.find(({ path }) => path === '/token');
    const verifier = exchange?.body.get('code_verifier') ?? '';
    expect(createHash('sha256').update(verifier).digest('base64url')).toBe(query.get('code_challenge'));
    expect(exchange?.basic).toMatch(/^partner:secret.2?D?canary$/);
    expect(exchange?.body.get('redirect_uri')).toBe('http://127.0.0.1:4000/callback');
    expect(exchange?.body.has('client_secret')).toBe(false);
  });

  it.each([
    ['/events/abc/designs', '/events/abc/designs'],
    [undefined, '/events'],
    ['https://evil.test/', '/'],
    ['//evil.test/', '/'],
  ])('asked for %s leads to %s, under a fresh session', async (wanted, to) => {
    const browser = createBrowser(bench);
    await browser.begin();
    const before = browser.cookies.get('demo-partner');
    const { status, location } = await browser.connect(wanted);
    expect([status, location]).toEqual([303, to]);
    expect(browser.cookies.get('demo-partner')).not.toBe(before);
    expect((await browser.get('/')).text).toContain('Connected as Anna Reiter');
  });

  it('takes issuer and subject as identity, not the e-mail', async () => {
    await createBrowser(bench).connect();
    bench.issuer.claims = { sub: 'user-2', name: 'Other' };
    await createBrowser(bench).connect();
    expect([stored('user-1')?.name, stored('user-2')?.name]).toEqual(['Anna Reiter', 'Other']);
  });
});

describe('a callback that was not asked for', () => {
  const refused = async (url: string, browser = createBrowser(bench)) => {
    const { status, text } = await browser.get(url);
    expect(status).toBe(400);
    expect(text).toContain('The connection failed');
    expect(text).not.toMatch(/state|nonce|token_use|JWT/);
  };

  it('is refused without state, or with several, and nothing is exchanged', async () => {
    const browser = createBrowser(bench);
    const state = (await browser.begin()).get('state');
    for (const states of ['', '&state=', `&state=${state}&state=other`])
      await refused(`/callback?code=c${states}`, browser);
    expect(bench.issuer.count('/token')).toBe(0);
    expect((await browser.get(`/callback?code=c&state=${state}`)).status).toBe(303);
  });

  it('is refused with the state of another browser, whose own flow goes on', async () => {
    const owner = createBrowser(bench);
    const state = (await owner.begin()).get('state');
    const stranger = createBrowser(bench);
    await stranger.begin();
    await refused(`/callback?code=c&state=${state}`, stranger);
    await refused(`/callback?code=c&state=${state}`, createBrowser(bench));
    expect(bench.issuer.count('/token')).toBe(0);
    bench.issuer.nonce = '';
    expect((await owner.get(`/callback?code=c&state=${state}`)).status).toBe(400);
    expect(bench.issuer.count('/token')).toBe(1);
  });

  it('is refused when it is replayed, in order and at once', async () => {
    const browser = createBrowser(bench);
    const url = `/callback?code=c&state=${(await browser.begin()).get('state')}`;
    const cookie = new Map(browser.cookies);
    const answers = await Promise.all(Array.from({ length: 10 }, () => browser.get(url)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    const again = createBrowser(bench);
    for (const [name, value] of cookie) again.cookies.set(name, value);
    await refused(url, again);
    expect(bench.issuer.count('/token')).toBe(1);
  });

  it('is refused after 15 minutes', async () => {
    const browser = createBrowser(bench);
    const state = (await browser.begin()).get('state');
    bench.clock.now += 15 * 60_000;
    await refused(`/callback?code=c&state=${state}`, browser);
    expect(bench.issuer.count('/token')).toBe(0);
  });
});

describe('an OAuth error', () => {
  it('is reported as a refusal after access_denied, without an exchange, and consumes the transaction', async () => {
    const browser = createBrowser(bench);
    const state = (await browser.begin()).get('state');
    const denied = await browser.get(`/callback?error=access_denied&code=c&state=${state}`);
    expect(denied.text).toContain('You declined the connection');
    expect((await browser.get(`/callback?code=c&state=${state}`)).status).toBe(400);
    expect(bench.issuer.count('/token')).toBe(0);
  });

  it('shows no protocol word of any other error', async () => {
    const browser = createBrowser(bench);
    const state = (await browser.begin()).get('state');
    const error = 'error=invalid_request&error_description=<b>';
    const { status, text } = await browser.get(`/callback?${error}&state=${state}`);
    expect(status).toBe(400);
    expect(text).not.toMatch(/invalid_request|<b>/);
    expect(bench.issuer.count('/token')).toBe(0);
  });
});

describe('an ID token', () => {
  const now = () => Math.floor(Date.now() / 1000);
  const bad: [string, (issuer: TestIssuer) => Partial<TestIssuer>][] = [
    ['without nonce', () => ({ claims: { nonce: undefined } })],
    ['for several audiences', () => ({ claims: { aud: ['partner', 'someone-else'], azp: 'partner' } })],
    ['whose issuer has a slash too many', (issuer) => ({ claims: { iss: `${issuer.issuer}/` } })],
    ['issued in the future', () => ({ claims: { iat: now() + 60 } })],
    ['that is an access token', () => ({ claims: { token_use: 'access_token' } })],
    ['signed PS256 with the right key', () => ({ algorithm: 'PS256' })],
  ];
  it.each(bad)('%s opens no session and stores nothing', async (_name, fault) => {
    Object.assign(bench.issuer, fault(bench.issuer));
    const browser = createBrowser(bench);
    expect((await browser.connect()).status).toBe(400);
    expect((await browser.get('/')).text).not.toContain('Connected as');
    expect(stored('user-1')).toBeUndefined();
  });

  it('issued a few seconds in the future by a clock that differs is accepted', async () => {
    bench.issuer.claims = { iat: now() + 3 };
    expect((await createBrowser(bench).connect()).status).toBe(303);
  });
});

describe('discovery', () => {
  it('is refused if its issuer is not exactly ours', async () => {
    bench.issuer.publishedIssuer = `${bench.issuer.issuer}/`;
    const { status, text } = await createBrowser(bench).get('/connect');
    expect(status).toBe(503);
    expect(text).toContain('does not answer just now');
  });

  it('that cannot be read is reported on the first page, which works again once it answers', async () => {
    const browser = createBrowser(bench);
    bench.issuer.publishedIssuer = 'http://127.0.0.1:1';
    const { status, text } = await browser.get('/');
    expect([status, text.includes('cannot be reached just now')]).toEqual([200, true]);
    bench.issuer.publishedIssuer = bench.issuer.issuer;
    expect((await browser.get('/')).text).not.toContain('cannot be reached');
  });

  it('is read once for many pages, and again after ten minutes', async () => {
    const browser = createBrowser(bench);
    for (let page = 0; page < 5; page += 1) await browser.get('/');
    expect(bench.issuer.count('/.well-known/openid-configuration')).toBe(1);
    bench.clock.now += 10 * 60_000;
    await browser.get('/');
    expect(bench.issuer.count('/.well-known/openid-configuration')).toBe(2);
  });
});
