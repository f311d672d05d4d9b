// The whole system by images: a person logs in, agrees, and a partner reads the events.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { send } from '../support/http.ts';
import { type Stores, startStores } from './stores.ts';
import { type System, startSystem } from './system.ts';
import { walkThrough } from './walk.ts';

let stores: Stores;
let system: System;

beforeAll(async () => {
  stores = await startStores();
  system = await startSystem(stores);
});

afterAll(async () => {
  await system?.close();
  await stores?.close();
});

test('a partner gets tokens and reads events', () => walkThrough(system.issuer));

test('the demo partner shows its page', async () => {
  const partner = system.containers['demo-partner'];
  const answer = await send(`http://127.0.0.1:${partner.getMappedPort(9000)}/`);
  expect(answer.status).toBe(200);
});
