// The lines of security events, whole: what every line has is checked here, the rest by the test that asks (R33).
import { createHmac, randomBytes } from 'node:crypto';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { Secret } from '@course-exchange/runtime/process/secret';
import { beforeEach, expect } from 'vitest';
import { createRequestLog } from '../../services/identity/src/request-log.ts';

const key = randomBytes(32);

/** Hashes are written out, so that nothing else can stand there. */
export function hashOf(text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url').slice(0, 22);
}

/** A log for the tests of this file; each test begins with an empty one. */
export function recordSecurityEvents() {
  const lines: Record<string, unknown>[] = [];
  beforeEach(() => {
    lines.length = 0;
  });
  const logger = createLogger('identity', 'error', (line) => lines.push(JSON.parse(line)));
  /** The events since the last call, without what every line has. */
  const told = (): unknown[] =>
    lines.splice(0).map(({ time, level, service, message, ...event }) => {
      expect([level, service, message]).toEqual(['info', 'identity', 'security event']);
      expect(time).toEqual(expect.any(String));
      return event;
    });
  const { onSecurityEvent } = createRequestLog(logger, new Secret(key));
  return { told, onSecurityEvent };
}
