// How a body is cut into messages: none is larger than a client accepts, and nothing is lost.
import type { IncomingCall } from '@course-exchange/runtime/grpc/incoming-call';
import { createLogger, logText } from '@course-exchange/runtime/process/logger';
import { expect, test } from 'vitest';
import type { Owner } from './event.ts';
import { bytesInPart, catalogHandlers } from './rpc.ts';

async function partsOf(json: string, list: 'listEvents' | 'listDesigns'): Promise<Uint8Array[]> {
  const handlers = catalogHandlers({
    authenticate: async () => ({ owner: 'owner' as Owner, client: logText('partner'), user: logText('u') }),
    database: { query: async <Row>() => [{ events: 1, json, eventJson: json }] as Row[] },
    logger: createLogger('test', 'error'),
  });
  const parts: Uint8Array[] = [];
  for await (const { body } of handlers[list]({ eventId: 'ZXZlbnQ' } as never, {} as IncomingCall))
    parts.push(body ?? new Uint8Array());
  return parts;
}

test('a usual list is one message', async () => {
  expect(await partsOf('{"items":[]}', 'listEvents')).toEqual([Buffer.from('{"items":[]}')]);
});

test.each([
  ['listEvents', (json: string) => json],
  ['listDesigns', (json: string) => `{"event":${json},"items":[]}`],
] as const)(
  'a long answer of %s is cut wherever it is full, in the middle of a character too',
  async (list, whole) => {
    const json = `x${'é'.repeat(400_000)}`;
    const parts = await partsOf(json, list);
    expect(parts).toHaveLength(Math.ceil(Buffer.byteLength(whole(json)) / bytesInPart));
    expect(parts.slice(0, -1).every(({ length }) => length === bytesInPart)).toBe(true);
    expect(Buffer.concat(parts).toString()).toBe(whole(json));
  },
);
