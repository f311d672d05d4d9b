// Whether writes of one tick share one trip to the kernel, and none waits for longer.
import { Writable } from 'node:stream';
import { setImmediate as nextTick } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { corkUntilNextTick } from './coalesce.ts';

function recorder() {
  const trips: string[] = [];
  const stream = new Writable({
    writev: (chunks, done) => {
      trips.push(chunks.map(({ chunk }) => String(chunk)).join(''));
      done();
    },
  });
  const write = (text: string) => {
    corkUntilNextTick(stream);
    stream.write(text);
  };
  return { stream, trips, write };
}

test('writes of several requests in one tick leave together, in order; each tick sends its own', async () => {
  const { trips, write } = recorder();
  write('a');
  await Promise.resolve();
  write('b');
  expect(trips).toEqual([]);
  await nextTick();
  write('c');
  await nextTick();
  expect(trips).toEqual(['ab', 'c']);
});

test('a connection that is destroyed meanwhile sends nothing and throws nothing', async () => {
  const { stream, trips, write } = recorder();
  write('a');
  stream.destroy();
  await nextTick();
  expect(trips).toEqual([]);
});
