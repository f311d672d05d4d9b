// Repeats a write that Postgres gave up for the sake of another: nothing of it was applied.
import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '@course-exchange/runtime/failure';

/** SQLSTATE: serialization_failure, deadlock_detected. */
const conflicts: readonly unknown[] = ['40001', '40P01'];
const attempts = 8;
const firstPauseMs = 10;

/** `write` must be atomic. Throws `temporarily_unavailable` when it is given up every time. */
export async function repeatedly<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!conflicts.includes((error as { code?: unknown }).code)) throw error;
      if (attempt + 1 === attempts) throw unavailable('Postgres', error);
    }
    await sleep(firstPauseMs * 2 ** attempt);
  }
}
