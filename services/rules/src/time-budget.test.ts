import { expect, test } from 'vitest';
import { timeBudget } from './time-budget.ts';

const { answer, login, passwordQueue, admission, hop, connect, catalogStatement } = timeBudget;
const { identityStore, keySet, replicas, wayBack, check } = timeBudget;
/** What a service behind the gateway has. */
const served = answer - hop;

test('the gateway answers within two seconds, and a login within ten', () => {
  expect(answer).toBeLessThan(2_000);
  expect(login).toBe(10_000);
});

test.each([
  ['connection', connect],
  ['list', catalogStatement],
  ['statement or command of identity', identityStore],
  ['confirmed write', identityStore + replicas],
  ['key set that a list waits for', keySet + hop],
])('a %s fails while its caller still waits', (_, time) => {
  expect(time).toBeLessThan(served);
});

test('a login that was queued longest has half of its time left, and more than any other request', () => {
  expect(2 * passwordQueue).toBeLessThanOrEqual(login);
  expect(login - hop - passwordQueue).toBeGreaterThan(served);
});

test('a grant is consumed only while its answer still reaches the partner', () => {
  expect(served - replicas - wayBack).toBeGreaterThan(0);
  expect(identityStore - wayBack).toBeGreaterThan(0);
  expect(admission).toBeGreaterThanOrEqual(hop + replicas + wayBack);
});

test('a lost first packet is repeated before a connection is given up', () => {
  expect(connect).toBeGreaterThan(1_000);
});

test('a check of readiness ends before its probe does', () => {
  expect(check).toBeLessThan(1_000);
});
