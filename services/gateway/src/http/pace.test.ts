// Which connections of a network are read, turn by turn of the event loop (R14.11).
import { once } from 'node:events';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPace } from './pace.ts';

/** Milliseconds of a turn, and connections that it begins with. */
const [mostInTurn, openInTurn] = [20, 64];

const afterTick = () => new Promise(process.nextTick);

/** Connections of one network, and one of another. */
async function open(count: number) {
  let time = 0;
  const keepPace = createPace(() => time);
  const sockets = Array.from({ length: count }, () => new Socket());
  const other = new Socket();
  keepPace('10.0.2', other);
  const onRequests = sockets.map((socket) => keepPace('10.0.1', socket));
  /** Two requests of a connection, the first of which takes so many milliseconds. */
  const send = (nth: number, ms: number) => {
    onRequests[nth]?.();
    time += ms;
    onRequests[nth]?.();
  };
  const paused = () => sockets.flatMap((socket, nth) => (socket.isPaused() ? [nth] : []));
  /** One more of another network. */
  const accept = () => void keepPace('10.0.3', new Socket());
  /** One more of the network, which flows after a tick, as a server's does. */
  const acceptOwn = () => {
    const socket = new Socket();
    process.nextTick(() => socket.resume());
    keepPace('10.0.1', socket);
    return socket;
  };
  // A turn in which none comes.
  send(0, 0);
  await nextTurn();
  const pass = (ms: number) => {
    time += ms;
  };
  return { sockets, other, send, paused, accept, acceptOwn, pass };
}

test('after 20 ms none of the network is read until the next turn, and another network is', async () => {
  const { other, send, paused } = await open(3);
  send(0, mostInTurn - 1);
  expect(paused()).toEqual([]);
  send(1, 1);
  expect(paused()).toEqual([0, 1, 2]);
  expect(other.isPaused()).toBe(false);
  await nextTurn();
  expect(paused()).toEqual([]);
  // Each turn has its time.
  for (let turns = 0; turns < 3; turns += 1) {
    send(2, mostInTurn - 1);
    await nextTurn();
  }
  expect(paused()).toEqual([]);
});

test('who has sent nothing yet comes before who has', async () => {
  const { send, paused } = await open(openInTurn + 3);
  send(0, mostInTurn);
  await nextTurn();
  expect(paused()).toEqual([0, openInTurn + 1, openInTurn + 2]);
  // Of 64 that are open two use up the turn: the others come first in the next one, then those that were not.
  send(1, mostInTurn / 2);
  send(2, mostInTurn / 2);
  await nextTurn();
  expect(paused()).toEqual([0, 1, 2]);
});

test('a connection that is paused for a body which nobody reads stays paused', async () => {
  const { sockets, send, paused } = await open(2);
  sockets[1]?.pause();
  send(0, mostInTurn);
  await nextTurn();
  expect(paused()).toEqual([1]);
  // So does one that is paused during its turn.
  sockets[1]?.resume();
  send(0, mostInTurn);
  await nextTurn();
  sockets[1]?.pause();
  send(0, mostInTurn);
  await nextTurn();
  expect(paused()).toEqual([1]);
});

test('a connection that is gone is not read any more', async () => {
  const { sockets, send } = await open(2);
  send(0, mostInTurn);
  const [, gone] = sockets;
  gone?.destroy();
  await once(gone as Socket, 'close');
  await nextTurn();
  expect(gone?.isPaused()).toBe(true);
});

test('a connection that comes while its network is held waits as well', async () => {
  const { send, acceptOwn, pass } = await open(1);
  const before = acceptOwn();
  await afterTick();
  expect(before.isPaused()).toBe(false);
  send(0, mostInTurn);
  const after = acceptOwn();
  await afterTick();
  expect(after.isPaused()).toBe(true);
  pass(250);
  await nextTurn();
  expect(after.isPaused()).toBe(false);
});

test('while connections come a turn does not end', async () => {
  const { send, paused, accept } = await open(2);
  for (let iterations = 0; iterations < 2; iterations += 1) {
    accept();
    send(0, mostInTurn / 2);
    await nextTurn();
  }
  expect(paused()).toEqual([0, 1]);
});

test('while connections come, held ones wait for them, 250 ms at most', async () => {
  const { send, paused, accept, pass } = await open(2);
  send(0, mostInTurn);
  for (let turns = 0; turns < 3; turns += 1) {
    accept();
    pass(50);
    await nextTurn();
    expect(paused()).toEqual([0, 1]);
  }
  accept();
  pass(100);
  await nextTurn();
  expect(paused()).toEqual([]);
});
