// The scenarios: each plays one failure of a real server, names the duty that it tests, and what a correct client does.
// docs/rehearsals.md is generated from this table.
import { randomBytes } from 'node:crypto';
import {
  afterwards,
  callbackChanges,
  departure,
  forged,
  idToken,
  isOf,
  isResource,
  isSameRefresh,
  known,
  proxyPage,
  refreshEnds,
  type Scenario,
  secretOf,
  serverMs,
  slowMs,
  withIdToken,
} from './plays.ts';
import { describe, jsonAnswer, jsonOf } from './request.ts';

export const scenarios = {
  'refresh-answer-lost': refreshEnds(
    'The first refresh succeeds, but its connection closes without an answer.',
    afterwards((own) => ({ ...own, delivered: 'none' })),
  ),
  'refresh-answer-cut': refreshEnds(
    'The first refresh succeeds, but its answer is cut off.',
    afterwards((own) => ({ ...own, delivered: 'half' })),
  ),
  'refresh-answer-slow': refreshEnds(
    `The first refresh succeeds, but its answer takes ${slowMs / 1_000} s.`,
    async (_asked, forward, { hold }) => {
      const own = await forward();
      await hold(slowMs);
      return own;
    },
    {
      atEnd: ({ asked: { at, outcome } }) => {
        const waited = (outcome?.at ?? Number.POSITIVE_INFINITY) - at;
        if (outcome?.kind !== 'nothing' || waited > 2_900) return undefined;
        return { duty: 'wait-for-answer', seen: `It gave up after ${Math.round(waited)} ms.` };
      },
      expectation:
        'The client waits, or gives up after 3 s at the earliest, drops its tokens and starts a new authorization flow.',
    },
  ),
  'refresh-unavailable': refreshEnds(
    'The first refresh is answered with our 503 and Retry-After: 1, and the next one with invalid_grant.',
    async (_asked, _forward, { hold }, before) => {
      await hold(serverMs);
      return before
        ? jsonAnswer(400, { error: 'invalid_grant' })
        : jsonAnswer(503, { error: 'temporarily_unavailable' }, { 'retry-after': '1' });
    },
    {
      repeats: isSameRefresh,
      duty: 'wait-for-retry-after',
      expectation:
        'The client sends the same refresh token once more, after at least a second, and starts a new flow on invalid_grant; or it starts one at once.',
    },
  ),
  'refresh-proxy-503': refreshEnds(
    'The first refresh succeeds, but a proxy answers 503 with an HTML page.',
    afterwards(() => proxyPage(503, 'Service Unavailable')),
  ),
  'refresh-proxy-429': refreshEnds(
    'The first refresh succeeds, but a proxy answers 429.',
    afterwards(() => proxyPage(429, 'Too Many Requests')),
  ),
  'exchange-answer-lost': {
    duty: 'never-again',
    play: 'The first code exchange succeeds, but its connection closes without an answer.',
    expectation: 'The client starts a new authorization flow.',
    on: ['exchange'],
    act: afterwards((own) => ({ ...own, delivered: 'none' })),
  },
  'callback-twice': {
    duty: 'code-once',
    play: 'Nothing fails. Hand the same callback to your backend twice, as a browser does on reload.',
    expectation:
      'The client refuses the second callback and exchanges the code once. A block that hands it over only once proves nothing.',
    on: ['exchange'],
    act: (_asked, forward) => forward(),
  },
  'callback-error': callbackChanges(
    'stop-at-error',
    'The callback carries error=access_denied with the right state.',
    (callback) => {
      callback.delete('code');
      callback.set('error', 'access_denied');
    },
    (later) =>
      ['exchange', 'token'].includes(later.endpoint) && !later.form.get('code')
        ? `${describe(later)} followed a callback with an error.`
        : undefined,
  ),
  'callback-other-state': callbackChanges(
    'check-state',
    'The callback carries a code with a state that the client never sent.',
    (callback) => callback.set('state', randomBytes(16).toString('base64url')),
    (later, { asked, own }) => {
      const code = own && departure(own, asked.url)?.searchParams.get('code');
      return later.endpoint === 'exchange' && later.form.get('code') === code
        ? `${describe(later)} sent the code that came with another state.`
        : undefined;
    },
  ),
  'id-token-foreign-key': idToken(
    'id-token-signature',
    'is signed by a key that is not in the key set',
    ({ foreign }) => foreign,
  ),
  'id-token-issuer': idToken('id-token-issuer', 'names another issuer', known, () => ({
    iss: 'https://login.example',
  })),
  'id-token-audience': idToken('id-token-audience', 'is for another client', known, () => ({
    aud: 'another-client',
  })),
  'id-token-nonce': idToken('id-token-nonce', 'has another nonce', known, () => ({
    nonce: randomBytes(16).toString('base64url'),
  })),
  'id-token-none': idToken('id-token-algorithm', 'has alg none and no signature', () => 'none'),
  'id-token-hs256': idToken(
    'id-token-algorithm',
    'is signed with HS256 and the client secret',
    (_tools, asked) => ({ secret: secretOf(asked) }),
  ),
  'id-token-expired': idToken('id-token-expiry', 'expired an hour ago', known, (now) => ({
    iat: now - 4_500,
    exp: now - 3_600,
  })),
  'keys-rotated': {
    duty: 'every-key',
    play: 'The ID token of a code exchange is signed by the second key of the key set.',
    expectation: 'The client accepts the login and uses the tokens.',
    on: ['exchange'],
    tokens: 'used',
    act: async (_asked, forward, tools) =>
      withIdToken(await forward(), (token) => forged(token, {}, tools.known)),
  },
  'access-token-refused': {
    duty: 'refresh-once',
    play: 'The API refuses the first access token with 401 invalid_token before it expires.',
    expectation:
      'The client refreshes once and continues with the new access token, or starts a new flow. The duty is broken only if the client sends the refused token again.',
    on: ['events', 'designs', 'user-info'],
    act: async () => jsonAnswer(401, { error: 'invalid_token' }, { 'www-authenticate': 'Bearer' }),
    repeats: (later, { asked }) => isResource(later) && later.bearer === asked.bearer,
  },
  'consent-withdrawn': refreshEnds(
    'The first refresh is answered with invalid_grant, as after a withdrawn consent.',
    async (_asked, _forward, { hold }) => {
      await hold(serverMs);
      return jsonAnswer(400, { error: 'invalid_grant' });
    },
    { duty: 'start-new-flow', repeats: isSameRefresh },
  ),
  'event-gone': {
    duty: 'take-404-as-answer',
    play: 'The event whose designs are read first is gone: 404 not_found. Read the designs once, without a refresh.',
    expectation:
      'The client reports that the event is gone, keeps its tokens, and requests nothing again within a second.',
    on: ['designs'],
    act: async () => jsonAnswer(404, { error: 'not_found' }),
    repeats: (later, { asked }) => isOf(asked)(later),
    breaks: (later, { asked }) =>
      later.at - (asked.outcome?.at ?? later.at) < 1_000 &&
      (later.endpoint === 'refresh' || isOf(asked)(later))
        ? `${describe(later)} followed ${describe(asked)} at once.`
        : undefined,
  },
  'many-events': {
    duty: 'whole-list',
    play: 'The event list holds 2,000 events, in one answer.',
    expectation:
      'The client accepts the whole list. No request shows that: assert in your block that it knows all 2,000.',
    on: ['events'],
    act: async (_asked, forward) => {
      const own = await forward();
      const [first] = (jsonOf(own.body) as { items?: object[] } | undefined)?.items ?? [];
      if (first === undefined) return undefined;
      const items = Array.from({ length: 2_000 }, (_, nth) => ({ ...first, id: `rehearsal-${nth}` }));
      return { ...own, body: Buffer.from(JSON.stringify({ items })) };
    },
  },
  'email-changed': {
    duty: 'identify-by-sub',
    play: 'The ID token and user-info of the same sub carry another e-mail address.',
    expectation: 'The client identifies the user by issuer and sub, accepts the login and uses the tokens.',
    on: ['exchange'],
    tokens: 'used',
    repeats: ({ endpoint }) => endpoint === 'exchange' || endpoint === 'user-info',
    act: async ({ endpoint }, forward, tools) => {
      const own = await forward();
      const email = { email: 'changed@example.com' };
      if (endpoint === 'exchange') return withIdToken(own, (token) => forged(token, email, tools.known));
      return { ...own, body: Buffer.from(JSON.stringify({ ...(jsonOf(own.body) as object), ...email })) };
    },
  },
} as const satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof scenarios;
