import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { delayRepeatedRefusals } from './repeated-refusals.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

type Response = ServerResponse & EventEmitter;
const responseOn = (socket: object) => Object.assign(new EventEmitter(), { req: { socket } }) as Response;
const address = '192.0.2.1';
const settle = () => new Promise(setImmediate);

test('a refusal leaves at once, and one that is asked for again too soon after its time [R14.7]', async () => {
  const turn = delayRepeatedRefusals(Date.now);
  const [impatient, patient] = [{}, {}];
  await Promise.all([turn(responseOn(impatient), address), turn(responseOn(patient), address)]);
  vi.advanceTimersByTime(300);
  const left = vi.fn();
  const second = turn(responseOn(impatient), address).then(left);
  vi.advanceTimersByTime(700);
  await settle();
  expect(left).not.toHaveBeenCalled();
  // As Retry-After has told it, at the least.
  await turn(responseOn(patient), address);
  await second;
  // An ingress brings others over the same connection.
  await turn(responseOn(impatient), '192.0.2.2');
  await turn(responseOn(impatient), address);
  // Refused again just now.
  const third = turn(responseOn(impatient), address).then(left);
  await settle();
  expect(left).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1_000);
  await third;
});

test('only some leave in one turn of the event loop, in their order', async () => {
  const turn = delayRepeatedRefusals(Date.now);
  const left: number[] = [];
  for (let refusal = 0; refusal < 100; refusal += 1)
    void turn(responseOn({}), address).then(() => left.push(refusal));
  const atOnce: number[] = [];
  while (left.length < 100) {
    const before = left.length;
    await settle();
    atOnce.push(left.length - before);
  }
  expect(Math.max(...atOnce)).toBeLessThanOrEqual(32);
  expect(left).toEqual(left.toSorted((one, other) => one - other));
});

test('nobody is waited for who has gone, and only so many wait', async () => {
  const turn = delayRepeatedRefusals(Date.now);
  const socket = {};
  await turn(responseOn(socket), address);
  const responses = Array.from({ length: 4_096 }, () => responseOn(socket));
  const waits = responses.map((response) => turn(response, address));
  await turn(responseOn(socket), address);
  responses[0]?.emit('close');
  await waits[0];
  void turn(responseOn(socket), address);
  await settle();
  expect(vi.getTimerCount()).toBe(4_096);
});
