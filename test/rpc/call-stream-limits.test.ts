// What calls over a stream are refused, and what one of them takes from another: nothing (decision 0028).
import { createClient } from '@connectrpc/connect';
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { CallStreamService } from '@course-exchange/proto/rpc/v1';
import { methodPath } from '@course-exchange/runtime/grpc/methods';
import type { RpcServerOptions } from '@course-exchange/runtime/grpc/server';
import { Overloaded } from '@course-exchange/runtime/process/errors';
import { expect, test } from 'vitest';
import { grpcTransport } from '../support/grpc-client.ts';
import { client, gate, pod } from './stream-pods.ts';

test('more calls in flight than a client may have are Overloaded; another method has room', async () => {
  const { held, hold, release } = gate();
  const { port } = await pod({ exchangeToken: hold });
  const { exchangeToken, listEvents } = client([port]);
  const asked = Array.from({ length: 512 }, () => exchangeToken({}));
  await expect(exchangeToken({})).rejects.toBeInstanceOf(Overloaded);
  expect(await listEvents({})).toEqual([]);
  await expect.poll(() => held.length).toBe(512);
  release();
  await Promise.all(asked);
  expect((await exchangeToken({})).accessToken).toBe('late');
});

test('more calls in flight than a server takes are refused before their work', async () => {
  const { held, hold, release } = gate();
  const { port } = await pod({ exchangeToken: hold });
  const clients = [client([port]), client([port]), client([port])];
  const settled = clients.map(({ exchangeToken }) =>
    Promise.allSettled(Array.from({ length: 400 }, () => exchangeToken({}))),
  );
  await expect.poll(() => held.length).toBe(1_024);
  release();
  const refused = (await Promise.all(settled)).flat().filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(176);
  expect(refused[0]).toMatchObject({ reason: { code: 'temporarily_unavailable' } });
});

test('each call is authenticated by itself: a refused one takes nothing from the others', async () => {
  const authenticate: RpcServerOptions['authenticate'] = ({ authorization }) => {
    if (authorization !== 'Bearer good') throw new Overloaded('not now');
  };
  const { port, calls } = await pod({}, { authenticate });
  const { exchangeToken } = client([port]);
  const asked = ['good', 'bad', 'good'].map((token) =>
    exchangeToken({}, { authorization: `Bearer ${token}` }),
  );
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(calls()).toBe(2);
});

test('large requests and answers pass, many at once', async () => {
  const { port } = await pod({
    exchangeToken: async ({ code }) => ({ accessToken: 'x'.repeat(Number(code.split(' ')[0])) }),
  });
  const { exchangeToken } = client([port]);
  const padding = 'x'.repeat(60_000);
  const sizes = Array.from({ length: 40 }, (_, number) => number * 50_000);
  const answers = await Promise.all(sizes.map((size) => exchangeToken({ code: `${size} ${padding}` })));
  expect(answers.map(({ accessToken }) => accessToken.length)).toEqual(sizes);
  expect((await exchangeToken({ code: `1 ${padding.repeat(2)}` })).accessToken).toHaveLength(1);
});

test('a request that no server takes is refused alone', async () => {
  const { held, hold, release } = gate();
  const { port } = await pod({ exchangeToken: hold });
  const { exchangeToken } = client([port], [], 60_000);
  const asked: Promise<unknown>[] = [];
  // More calls in flight than there are streams, each asked in a turn of its own.
  for (let call = 1; call <= 12; call += 1) {
    asked.push(exchangeToken({}));
    await expect.poll(() => held.length).toBe(call);
  }
  await expect(exchangeToken({ code: 'x'.repeat(300 * 1024) })).rejects.toMatchObject({
    code: 'server_error',
  });
  release();
  await Promise.all(asked);
});

test('no message is larger than its reader takes, whatever calls come together', async () => {
  const { held, hold, release } = gate('x'.repeat(250_000));
  const { port } = await pod({ exchangeToken: hold });
  const { exchangeToken } = client([port]);
  const authorization = `Bearer ${'x'.repeat(10_000)}`;
  const asked = Array.from({ length: 300 }, () => exchangeToken({}, { authorization }));
  await expect.poll(() => held.length).toBe(300);
  release();
  for (const { accessToken } of await Promise.all(asked)) expect(accessToken).toHaveLength(250_000);
});

test('small lists that end in one turn leave as one message', async () => {
  const body = Buffer.from('{"items":[]}');
  const { port } = await pod({
    listEvents: async function* () {
      yield { body };
    },
  });
  const { carry } = createClient(CallStreamService, grpcTransport(`127.0.0.1:${port}`));
  const method = methodPath(CatalogService.method.listEvents);
  const asked = async function* () {
    yield { calls: [1, 2, 3].map((id) => ({ id, method, timeoutMs: 5_000 })) };
  };
  const messages = await Array.fromAsync(carry(asked()));
  const answers = messages.map((message) => message.answers.map(({ id, more }) => (more ? 'part' : id)));
  expect(answers.filter(({ length }) => length > 0)).toEqual([['part', 'part', 'part', 1, 2, 3]]);
});

test('a server that knows no streams is called without them', async () => {
  // A port that sends details carries no calls, as a server of the release before.
  const { port, calls } = await pod({}, { sendDetails: true });
  const { exchangeToken } = client([port]);
  await Promise.all([exchangeToken({}), exchangeToken({})]);
  await exchangeToken({});
  expect(calls()).toBe(3);
});
