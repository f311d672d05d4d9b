import { Failure } from '@course-exchange/runtime/process/errors';
import { expect, test } from 'vitest';
import { withLastAnswer } from './last-answer.ts';

function scene() {
  const at = { now: 0, calls: 0, answer: async (): Promise<string> => 'first' };
  const read = withLastAnswer(
    () => {
      at.calls += 1;
      return at.answer();
    },
    () => at.now,
  );
  const unavailable = () => Promise.reject(new Failure('temporarily_unavailable'));
  return { at, read, unavailable };
}

test('a fresh answer is requested when no request waits for one', async () => {
  const { at, read } = scene();
  await read();
  at.answer = async () => 'second';
  expect(await read()).toBe('second');
});

test('who asks meanwhile gets the same answer', async () => {
  const { at, read } = scene();
  expect(await Promise.all([read(), read(), read()])).toEqual(['first', 'first', 'first']);
  expect(at.calls).toBe(1);
});

test('the last answer is reused for an hour, and after a failure no request waits for the next one', async () => {
  const { at, read, unavailable } = scene();
  await read();
  at.answer = unavailable;
  expect(await read()).toBe('first');
  expect([await read(), at.calls]).toEqual(['first', 2]);
  at.now = 2_000;
  expect([await read(), at.calls]).toEqual(['first', 3]);
  at.now = 3_600_000;
  await expect(read()).rejects.toMatchObject({ code: 'temporarily_unavailable' });
});

test('the caller sees a failure if there never was an answer, and every other failure', async () => {
  const { at, read, unavailable } = scene();
  at.answer = unavailable;
  await expect(read()).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  at.answer = async () => 'first';
  await read();
  at.answer = () => Promise.reject(new Failure('server_error'));
  await expect(read()).rejects.toMatchObject({ code: 'server_error' });
});
