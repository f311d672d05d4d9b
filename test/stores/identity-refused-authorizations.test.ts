// Why an authorization request is refused: one line and one count for each, by redirect or directly (R33).
import { createLogger } from '@course-exchange/runtime/process/logger';
import { Secret } from '@course-exchange/runtime/process/secret';
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import { beforeEach, expect, test } from 'vitest';
import { submitConsent } from '../../services/identity/src/authorize/consent.ts';
import { getInteraction } from '../../services/identity/src/authorize/page.ts';
import type { AuthorizationParameters } from '../../services/identity/src/authorize/request.ts';
import type { ClientId } from '../../services/identity/src/ids.ts';
import { createRequestLog } from '../../services/identity/src/request-log.ts';
import {
  addPerson,
  begin,
  beginForm,
  logIn,
  sessionOf,
  signIn,
  useAuthorization,
} from './identity-authorization.ts';
import { addPartner } from './identity-grant.ts';

const { metricsText = () => Promise.reject(new Error('no metrics')) } = await startTelemetry('identity', {
  OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
  OTEL_METRICS_EXPORTER: 'prometheus',
  OTEL_TRACES_SAMPLER_ARG: 1,
});
const { identity, clock, ...opened } = await useAuthorization();
const lines: Record<string, unknown>[] = [];
const logger = createLogger('identity', 'info', (line) => lines.push(JSON.parse(line)));
const deps = { ...opened.deps, ...createRequestLog(logger, new Secret(Buffer.alloc(32))) };

let client: ClientId;
beforeEach(async () => {
  client = (await addPartner(identity, ['openid', 'email'])).clientId;
  lines.length = 0;
});

/** Code, reason and client of each refusal that is told, without events that end no request. */
const told = () =>
  lines
    .filter(({ message }) => message === 'request refused')
    .map((line) => [line.code, line.reason, line.client]);

/** How often they were counted for `named`. */
async function counted(named: string): Promise<readonly (readonly [string, string, number])[]> {
  const series = (await metricsText()).matchAll(
    /authorizations_refused_total\{error_type="(.*)",reason="(.*)",client_id="(.*)"\} (\d+)$/gm,
  );
  return [...series].flatMap(([, code = '', reason = '', of, times]) =>
    of === named ? [[code, reason, Number(times)] as const] : [],
  );
}

test.each<[Partial<AuthorizationParameters>, string, string]>([
  [{ redirectUri: 'https://canary.example/' }, 'invalid_redirect_uri', 'redirect_uri not registered'],
  [{ redirectUri: '' }, 'invalid_redirect_uri', 'redirect_uri missing'],
  [{ scope: '' }, 'invalid_scope', 'scope missing'],
  [{ scope: 'openid canary' }, 'invalid_scope', 'unknown scope'],
  [{ scope: 'openid profile' }, 'invalid_scope', 'scope not approved'],
  [{ responseType: '' }, 'invalid_request', 'response_type missing'],
  [{ responseType: 'canary' }, 'unsupported_response_type', 'response_type'],
  [{ codeChallenge: 'canary' }, 'invalid_request', 'PKCE'],
  [{ prompt: 'none' }, 'login_required', 'prompt=none, and login is to be asked'],
  [{ prompt: 'none login' }, 'invalid_request', 'prompt'],
  [{ maxAge: '-1' }, 'invalid_request', 'max_age'],
  [{ request: 'canary' }, 'request_not_supported', 'request'],
])('a refusal names the client that exists, and why: %j [R33]', async (changes, code, reason) => {
  const refused = begin(deps, client, changes).then(
    (result) => ('error' in result ? result.error : result.kind),
    (failure) => failure.code,
  );
  expect(await refused).toBe(code);
  expect(told()).toEqual([[code, reason, client]]);
  expect(await counted(client)).toEqual([[code, reason, 1]]);
  expect(JSON.stringify(lines)).not.toContain('canary');
});

test('a client that does not exist is named nowhere, one that is inactive is [R33]', async () => {
  const code = 'invalid_client';
  for (const named of ['', 'made-up'] as ClientId[])
    await expect(begin(deps, named)).rejects.toMatchObject({ code });
  await identity.sql('update clients set active = false where client_id = $1', [client]);
  await expect(begin(deps, client)).rejects.toMatchObject({ code });
  expect(told()).toEqual([
    [code, 'client_id missing', undefined],
    [code, 'unknown client', undefined],
    [code, 'inactive client', client],
  ]);
  expect((await counted('unknown')).map(([, reason]) => reason)).toEqual([
    'client_id missing',
    'unknown client',
  ]);
  expect(await counted('made-up')).toEqual([]);
});

test('what is a security event is counted, and has no second line [R33]', async () => {
  expect(await begin(deps, client, { idTokenHint: 'x' })).toMatchObject({ error: 'invalid_request' });
  const form = await signIn(deps, await beginForm(deps, client), await addPerson(identity));
  const view = await getInteraction(deps, form);
  const { formToken } = view.kind === 'consent' ? view.page : form;
  const denied = await submitConsent(deps, { ...form, formToken, decision: 'deny' });
  expect(denied).toMatchObject({ kind: 'redirect', error: 'access_denied' });
  // The browser goes back, and sends its form again (R6).
  expect(await getInteraction(deps, form)).toEqual(denied);
  expect(await submitConsent(deps, { ...form, formToken, decision: 'deny' })).toEqual(denied);
  expect(told()).toEqual([]);
  expect(await counted(client)).toEqual([
    ['invalid_request', 'id_token_hint.refused', 1],
    ['access_denied', 'consent.denied', 1],
  ]);
});

test('consent that is missing under prompt=none, a foreign form and a late one are told apart [R33]', async () => {
  const person = await addPerson(identity);
  const session = await sessionOf(deps, client, person);
  expect(await begin(deps, client, { prompt: 'none' }, session)).toMatchObject({ error: 'consent_required' });
  const form = await signIn(deps, await beginForm(deps, client), person);
  await logIn(deps, { ...form, interactionCookie: 'x' }, person);
  clock.now += 31 * 60_000;
  await logIn(deps, form, person);
  expect(told()).toEqual([
    ['consent_required', 'prompt=none, and consent is to be asked', client],
    ['invalid_request', 'form of another browser', client],
    ['invalid_request', 'form came too late', client],
  ]);
  expect(JSON.stringify(lines)).not.toContain(person.email);
});
