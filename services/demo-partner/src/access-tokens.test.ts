// Token handling after the login (specification §3, §5 and §7), against a real issuer on loopback.
import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, createBench, createBrowser } from '../testing/bench.ts';
import { createSeal } from './database.ts';

let bench: Bench;
let browser: ReturnType<typeof createBrowser>;
beforeEach(async () => {
  bench = await createBench();
  browser = createBrowser(bench);
  await browser.connect();
});
afterEach(() => bench.close());

const identity = () => ({ iss: bench.issuer.issuer, sub: 'user-1' });
const stored = () => bench.partner.connections.find(identity());

/** Token requests get no answer until what it returns is called. */
function holdTokens(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  bench.issuer.tokenGate = promise;
  return resolve;
}

/** A refresh whose answer comes after `meanwhile`. */
async function refreshDuring(meanwhile: () => void) {
  const answer = holdTokens();
  const refresh = browser.post('/refresh');
  await expect.poll(() => bench.issuer.count('/token')).toBe(2);
  meanwhile();
  answer();
  return refresh;
}

describe('a refresh', () => {
  it('happens before the access token ends, and replaces both tokens', async () => {
    bench.clock.now += 850_000;
    let bearer = '';
    bench.issuer.api = (_path, token) => {
      bearer = token;
      return { status: 200, body: { items: [] } };
    };
    expect((await browser.get('/events')).text).toContain('No events yet');
    expect(bearer).toBe('access-canary-2');
    expect(stored()?.refreshToken).toBe('refresh-canary-2');
    expect((await browser.get('/')).text).toContain('Refreshed at');
  });

  it('happens once for many concurrent requests', async () => {
    bench.clock.now += 850_000;
    const answer = holdTokens();
    const asked = Array.from({ length: 20 }, () => browser.get('/events'));
    await expect.poll(() => bench.issuer.count('/token')).toBe(2);
    answer();
    const pages = await Promise.all(asked);
    expect(pages.every(({ status }) => status === 200)).toBe(true);
    expect(bench.issuer.count('/token')).toBe(2);
  });

  it('is marked in the file while it runs, so that no second process sends the same token', async () => {
    const connection = stored();
    expect(bench.partner.connections.startRefresh(identity(), connection?.version ?? 0)).toBe(true);
    expect((await browser.post('/refresh')).status).toBe(503);
    expect(bench.issuer.count('/token')).toBe(1);
  });

  it.each([
    ['is lost', 'drop'],
    ['is a 503 of somebody else', { status: 503, body: { error: 'overloaded' } }],
    ['is a 500', { status: 500, body: { error: 'server_error' } }],
    ['is invalid_grant', { status: 400, body: { error: 'invalid_grant' } }],
    [
      'lacks the new refresh token',
      { status: 200, body: { access_token: 'a', token_type: 'Bearer', expires_in: 900 } },
    ],
  ] as const)('whose answer %s is not tried again: the tokens are deleted', async (_name, fault) => {
    bench.issuer.tokenFault = fault;
    const { status, text } = await browser.post('/refresh');
    expect([status, text.includes('Please connect again')]).toEqual([401, true]);
    expect(bench.issuer.count('/token')).toBe(2);
    expect(stored()).toBeUndefined();
    bench.issuer.tokenFault = undefined;
    const events = await browser.get('/events');
    expect([events.status, events.text.includes('Your connection has ended')]).toEqual([401, true]);
    expect(bench.issuer.count('/token')).toBe(2);
  });

  it('refused for our own credentials keeps the tokens', async () => {
    bench.issuer.tokenFault = { status: 401, body: { error: 'invalid_client' } };
    expect((await browser.post('/refresh')).status).toBe(400);
    bench.issuer.tokenFault = undefined;
    expect((await browser.post('/refresh')).status).toBe(303);
  });

  it('refused by a service that is not available is sent once more, when Retry-After has passed', async () => {
    bench.issuer.tokenFault = { status: 503, body: { error: 'temporarily_unavailable' }, retryAfter: 2 };
    const { status, text } = await browser.post('/refresh');
    expect([status, text.includes('connect again')]).toEqual([503, false]);
    bench.issuer.tokenFault = undefined;
    bench.clock.now += 1_999;
    expect([(await browser.post('/refresh')).status, bench.issuer.count('/token')]).toEqual([503, 2]);
    bench.clock.now += 1;
    expect((await browser.post('/refresh')).status).toBe(303);
    expect(stored()?.refreshToken).toBe('refresh-canary-3');
  });

  it('refused so a second time deletes the tokens', async () => {
    bench.issuer.tokenFault = { status: 503, body: { error: 'temporarily_unavailable' }, retryAfter: 2 };
    await browser.post('/refresh');
    bench.clock.now += 2_000;
    expect((await browser.post('/refresh')).status).toBe(401);
    expect(stored()).toBeUndefined();
  });

  it('that a crash interrupted leaves no token to send again', async () => {
    bench.partner.connections.startRefresh(identity(), stored()?.version ?? 0);
    await bench.restart();
    expect(stored()).toBeUndefined();
  });

  it('does not replace the tokens of a login that overtook it', async () => {
    const { version: _old, ...connection } = stored() ?? expect.fail();
    const newer = { ...connection, accessToken: 'newer' };
    await refreshDuring(() => bench.partner.connections.put(identity(), newer, bench.clock.now));
    expect(stored()?.accessToken).toBe('newer');
  });

  it('does not bring tokens back after a disconnect that overtook it', async () => {
    expect((await refreshDuring(() => bench.partner.connections.remove(identity()))).status).toBe(401);
    expect(stored()).toBeUndefined();
  });
});

describe('the resource API', () => {
  it('is asked again after a 5xx, a bounded number of times', async () => {
    let calls = 0;
    bench.issuer.api = () => {
      calls += 1;
      return { status: 503, body: {} };
    };
    const { status, text } = await browser.get('/events');
    expect([status, calls]).toEqual([503, 4]);
    expect(text).toMatch(/Reference: <code>[0-9a-f-]{36}</);
  });

  it('is asked again when Retry-After has passed', async () => {
    const answers = [
      { status: 503, body: {}, retryAfter: 3 },
      { status: 502, body: {} },
    ];
    bench.issuer.api = () => answers.shift() ?? { status: 200, body: { items: [] } };
    expect((await browser.get('/events')).status).toBe(200);
    expect(bench.waitsMs).toEqual([3_000, 250]);
  });

  it('is not waited for when Retry-After is longer than a page can wait', async () => {
    bench.issuer.api = () => ({ status: 503, body: {}, retryAfter: 6 });
    expect((await browser.get('/events')).status).toBe(503);
    expect(bench.waitsMs).toEqual([]);
  });

  it.each([
    ['goes on with', 'access-canary-2', 200],
    ['asks for a new connection without', 'none', 401],
  ])('after a 401 refreshes once and %s a good token', async (_how, good, status) => {
    let calls = 0;
    bench.issuer.api = (_path, token) => {
      calls += 1;
      return { status: token === good ? 200 : 401, body: { items: [] } };
    };
    expect((await browser.get('/events')).status).toBe(status);
    expect([calls, bench.issuer.count('/token')]).toEqual([2, 2]);
  });

  it('gives names that are shown as text, and a note when designs are left out', async () => {
    const dates = { startDate: null, endDate: null, updatedAt: null };
    const event = { ...dates, id: 'e', name: '<script>x</script>', designCount: 730 };
    bench.issuer.api = () => ({ status: 200, body: { event, items: [] } });
    const { text } = await browser.get('/events/e/designs');
    expect(text).not.toContain('<script>');
    expect(text).toContain('At most 500 are shown');
  });
});

describe('stored tokens', () => {
  it('survives a restart', async () => {
    await bench.restart();
    expect((await browser.get('/')).text).toContain('Connected as Anna Reiter');
  });

  it('holds no token, cookie, e-mail or name in plain, and no log line does', async () => {
    await browser.post('/refresh');
    const state = (await browser.begin()).get('state') ?? 'none';
    const everything = readFileSync(bench.file, 'latin1') + bench.log.join('');
    for (const secret of ['-canary', 'anna@', 'Anna', state, bench.issuer.nonce, ...browser.cookies.values()])
      expect(everything).not.toContain(secret);
  });

  it('is deleted by Disconnect, which ends the session and says how consent is withdrawn', async () => {
    const cookie = browser.cookies.get('demo-partner') ?? '';
    expect((await browser.post('/disconnect')).location).toBe('/disconnected');
    expect(stored()).toBeUndefined();
    expect((await browser.get('/disconnected')).text).toMatch(/15 minutes[\s\S]*withdraw your consent/);
    browser.cookies.set('demo-partner', cookie);
    expect((await browser.get('/events')).status).toBe(401);
  });

  it('is in a file that only its owner can read, even if the file existed before', async () => {
    expect(statSync(bench.file).mode & 0o777).toBe(0o600);
    chmodSync(bench.file, 0o644);
    await bench.restart();
    expect(statSync(bench.file).mode & 0o777).toBe(0o600);
  });

  it('is not what a browser hears of that was never connected', async () => {
    const { status, text } = await createBrowser(bench).get('/events');
    expect([status, text.includes('Connect first')]).toEqual([401, true]);
    expect(text).not.toContain('has ended');
    expect(text).toContain('href="/connect?to=%2Fevents"');
  });

  it('is not touched by a form of another site', async () => {
    expect((await browser.send('POST', '/disconnect', 'form_token=x')).status).toBe(400);
    expect((await browser.send('POST', '/disconnect', '')).status).toBe(400);
    expect(stored()).toBeDefined();
  });

  it.each([
    [415, 'application/xml', '<form_token/>'],
    [413, 'application/x-www-form-urlencoded', 'x'.repeat(20_000)],
  ])('is not touched by a body that is refused with %i', async (status, type, payload) => {
    const headers = { 'content-type': type };
    const answer = await bench.app.inject({ method: 'POST', url: '/disconnect', headers, payload });
    expect(answer.statusCode).toBe(status);
    expect(stored()).toBeDefined();
  });

  it('does not open for another user: a copied row is worthless', async () => {
    const { seal, unseal } = createSeal(Buffer.alloc(32, 1), randomBytes);
    const sealed = seal({ a: 1 }, 'anna');
    expect(unseal(sealed, 'anna')).toEqual({ a: 1 });
    expect(unseal(sealed, 'bert')).toBeUndefined();
  });
});
