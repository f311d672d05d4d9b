// What a client gets when no capacity is free for its answer: whether there may be some later.
import type { AddressInfo } from 'node:net';
import { Failure } from '@course-exchange/runtime/process/errors';
import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { limitUnreadAnswers } from './unread-answers.ts';

const mebibyte = 1024 * 1024;

test('an answer larger than the largest share is a server_error, and its bytes are free again [R14.8]', async () => {
  const app = fastify();
  const hold = limitUnreadAnswers();
  app.get<{ Params: { parts: string } }>('/:parts', async ({ params }, reply) => {
    try {
      const holdBytes = hold(reply.raw, 'a network');
      for (let part = 0; part < Number(params.parts); part++) holdBytes(mebibyte);
      return 'held';
    } catch (error) {
      return error instanceof Failure ? error.code : String(error);
    }
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  const answerOf = async (parts: number) => (await fetch(`http://127.0.0.1:${port}/${parts}`)).text();
  for (let round = 0; round < 2; round++) {
    expect(await answerOf(205)).toBe('server_error');
    expect(await answerOf(204)).toBe('held');
  }
});
