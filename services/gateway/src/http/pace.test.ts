// Which connections of a network are read, turn by turn of the event loop (R14.11).
import { once } from 'node:events';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPace } from './pace.ts';

const readInTurn = 128;

/** Connections of one network. */
function open(count: number, pace = createPace()) {
  const sockets = Array.from({ length: count }, () => new Socket());
  const onRequests = sockets.map((socket) => pace('10.0.1', socket));
  /** What a connection sends: so many requests. */
  const send = (nth: number, requests: number) => {
    for (let left = requests; left > 0; left -= 1) onRequests[nth]?.();
  };
  const paused = () => sockets.flatMap((socket, nth) => (socket.isPaused() ? [nth] : []));
  return { sockets, send, paused, pace };
}

test('after 128 requests none of the network is read until the next turn, and another network is', async () => {
  const { send, paused, pace } = open(3);
  const other = new Socket();
  pace('10.0.2', other);
  send(0, readInTurn - 1);
  expect(paused()).toEqual([]);
  send(1, 1);
  expect(paused()).toEqual([0, 1, 2]);
  expect(other.isPaused()).toBe(false);
  await nextTurn();
  expect(paused()).toEqual([]);
  send(2, readInTurn - 1);
  await nextTurn();
  send(2, readInTurn - 1);
  expect(paused()).toEqual([]);
});

test('who has sent nothing yet comes before who has', async () => {
  const { send, paused } = open(readInTurn + 10);
  send(0, readInTurn);
  await nextTurn();
  // The ten that sent first come last, and of 128 that are read in this turn two use it up.
  expect(paused()).toEqual(
    [...Array(10).keys()].map((nth) => (nth === 0 ? 0 : readInTurn + nth)).sort((a, b) => a - b),
  );
  send(1, readInTurn / 2);
  send(2, readInTurn / 2);
  await nextTurn();
  expect(paused()).not.toContain(3);
  expect(paused()).toEqual(expect.arrayContaining([1, 2]));
});

test('a connection that is paused for a body which nobody reads stays paused', async () => {
  const { sockets, send, paused } = open(2);
  sockets[1]?.pause();
  send(0, readInTurn);
  await nextTurn();
  expect(paused()).toEqual([1]);
  // So does one that is paused during its turn.
  sockets[1]?.resume();
  send(0, readInTurn);
  await nextTurn();
  sockets[1]?.pause();
  send(0, readInTurn);
  await nextTurn();
  expect(paused()).toEqual([1]);
});

test('a connection that is gone is not read any more', async () => {
  const { sockets, send } = open(2);
  send(0, readInTurn);
  const [, gone] = sockets;
  gone?.destroy();
  await once(gone as Socket, 'close');
  await nextTurn();
  expect(gone?.isPaused()).toBe(true);
});
