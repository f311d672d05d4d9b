// The design catalog by its contract, called from outside: it verifies the access token itself.
import { type CallOptions, Code } from '@connectrpc/connect';
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { beforeAll, expect, test } from 'vitest';
import { refusalOf } from '../support/grpc-client.ts';
import { runningStack } from '../support/running-stack.ts';
import { partnerFor, userWho } from '../support/stack-file.ts';
import { callUnknown, clientOf, tokensFor, withDeadline, withToken } from './wire-client.ts';

const stack = runningStack();
const partner = partnerFor(stack, 'openid', 'email', 'profile');
const catalog = clientOf('design-catalog', CatalogService);
const invalidToken = { status: Code.Unauthenticated, errorCode: 'invalid_token' };
const notFound = { status: Code.NotFound, errorCode: 'not_found' };
let token = '';
let idToken = '';

beforeAll(async () => {
  const issued = await tokensFor(partner, userWho(stack, 'typical season'));
  token = issued.accessToken;
  idToken = issued.idToken ?? '';
});

interface Event {
  readonly id: string;
  readonly designCount: number;
}

function read<Body>(parts: readonly { readonly body: Uint8Array }[]): Body {
  return JSON.parse(Buffer.concat(parts.map(({ body }) => body)).toString()) as Body;
}

async function eventsOf(accessToken: string): Promise<readonly Event[]> {
  const parts = await Array.fromAsync(catalog.listEvents({}, withToken(accessToken)));
  return read<{ readonly items: readonly Event[] }>(parts).items;
}

function designsOf(eventId: string, options: CallOptions) {
  return Array.fromAsync(catalog.listDesigns({ eventId }, options));
}

test('the token names the user whose events are listed, and each event opens its designs', async () => {
  const events = await eventsOf(token);
  expect(events.length).toBeGreaterThan(5);
  const [first] = events;
  const parts = await designsOf(first?.id ?? '', withToken(token));
  const { event, items } = read<{ readonly event: Event; readonly items: readonly object[] }>(parts);
  expect(event).toEqual(first);
  expect(items).toHaveLength(Math.min(first?.designCount ?? 0, 500));
});

test('2,000 events come whole, in parts', async () => {
  const { accessToken } = await tokensFor(partner, userWho(stack, '2,000 events'));
  const parts = await Array.fromAsync(catalog.listEvents({}, withToken(accessToken)));
  expect(parts.length).toBeGreaterThan(1);
  expect(read<{ readonly items: readonly Event[] }>(parts).items).toHaveLength(2_000);
});

test('no events: an empty list', async () => {
  const { accessToken } = await tokensFor(partner, userWho(stack, 'no designs'));
  expect(await eventsOf(accessToken)).toEqual([]);
});

test('a call without a deadline is served', async () => {
  expect(await eventsOf(token)).not.toEqual([]);
});

test('a missing, wrong, tampered or ID token is invalid_token for both methods', async () => {
  const tampered = `${token.slice(0, -4)}AAAA`;
  for (const headers of [
    {},
    ...['wrong', tampered, idToken].map((value) => ({ authorization: `Bearer ${value}` })),
  ]) {
    expect(await refusalOf(Array.fromAsync(catalog.listEvents({}, { headers })))).toMatchObject(invalidToken);
    expect(await refusalOf(designsOf('x', { headers }))).toMatchObject(invalidToken);
  }
});

test('an unknown event, a foreign one and an id that is not ours are the same not_found [R24.1]', async () => {
  const { accessToken } = await tokensFor(partner, userWho(stack, '730 designs'));
  const [foreign] = await eventsOf(accessToken);
  for (const eventId of [
    foreign?.id ?? '',
    Buffer.from('unknown').toString('base64url'),
    '%%',
    '',
    'A'.repeat(5_000),
  ])
    expect(await refusalOf(designsOf(eventId, withToken(token)))).toMatchObject(notFound);
});

test('a list that outlasts its deadline ends with it', async () => {
  const { accessToken } = await tokensFor(partner, userWho(stack, '2,000 events'));
  const call = Array.fromAsync(catalog.listEvents({}, withDeadline(accessToken, '1m')));
  // Told by whichever clock is first.
  expect([Code.DeadlineExceeded, Code.Unavailable]).toContain((await refusalOf(call)).status);
});

test('an oversized message is refused before it is read', async () => {
  const call = designsOf('x'.repeat(300 * 1024), withToken(token));
  expect((await refusalOf(call)).status).toBe(Code.ResourceExhausted);
});

test('a method that is not there is unimplemented', async () => {
  const call = callUnknown('design-catalog', CatalogService.method.listDesigns, 'DeleteDesign');
  expect((await refusalOf(call)).status).toBe(Code.Unimplemented);
});
