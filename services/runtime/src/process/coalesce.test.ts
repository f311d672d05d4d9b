// Whether writes of one turn share one trip to the kernel, and none waits for longer.
import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { corkUntilNextTick } from './coalesce.ts';

function recorder(): { readonly stream: Writable; readonly trips: string[] } {
  const trips: string[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      trips.push(String(chunk));
      done();
    },
    writev: (chunks, done) => {
      trips.push(chunks.map(({ chunk }) => String(chunk)).join(''));
      done();
    },
  });
  return { stream, trips };
}

function write(stream: Writable, text: string): void {
  corkUntilNextTick(stream);
  stream.write(text);
}

test('writes of several requests in one tick leave together, in order', async () => {
  const { stream, trips } = recorder();
  write(stream, 'a');
  await Promise.resolve();
  write(stream, 'b');
  expect(trips).toEqual([]);
  await nextTurn();
  expect(trips).toEqual(['ab']);
});

test('each tick sends its writes', async () => {
  const { stream, trips } = recorder();
  write(stream, 'a');
  await nextTurn();
  write(stream, 'b');
  await nextTurn();
  expect(trips).toEqual(['a', 'b']);
});

test('a connection that is destroyed meanwhile sends nothing and throws nothing', async () => {
  const { stream, trips } = recorder();
  write(stream, 'a');
  stream.destroy();
  await nextTurn();
  expect(trips).toEqual([]);
});
