// Which secret a client last used, so that an operator knows whether the old one may go. Written after the
// answer, at most once a minute for a secret, and lost without harm: the times are a minute exact.
import { describeError, type Logger } from '@course-exchange/runtime/logger';
import type { Queries } from '@course-exchange/runtime/postgres';
import type { ClientId } from './domain/ids.ts';
import { recordSecretUse } from './store/postgres/issued-secrets.ts';

/** `hash`: SHA-256 of the secret in hex. */
export type OnSecretUsed = (clientId: ClientId, hash: string) => void;

const writeEvery = 60_000;

export function createSecretUse(database: Queries, now: () => number, logger: Logger): OnSecretUsed {
  const written = new Map<string, number>();
  return (clientId, hash) => {
    const time = now();
    if (time - (written.get(hash) ?? 0) < writeEvery) return;
    written.set(hash, time);
    recordSecretUse(database, clientId, hash).catch((error: unknown) => {
      written.delete(hash);
      logger.warn('use of a client secret not recorded', describeError(error));
    });
  };
}
