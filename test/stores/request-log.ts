// Identity's request log for the tests of a file, read back: its lines and its counters (R33).
import { createHmac, randomBytes } from 'node:crypto';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { Secret } from '@course-exchange/runtime/process/secret';
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import { beforeEach, expect } from 'vitest';
import { createRequestLog } from '../../services/identity/src/request-log.ts';

const key = randomBytes(32);

/** Written out here, so that nothing but this hash can stand in a line. */
export function hashOf(text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url').slice(0, 22);
}

export async function recordRequests() {
  const { metricsText = expect.fail } = await startTelemetry('identity', {
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_TRACES_SAMPLER_ARG: 1,
  });
  const lines: Record<string, unknown>[] = [];
  beforeEach(() => {
    lines.length = 0;
  });
  const logger = createLogger('identity', 'info', (line) => lines.push(JSON.parse(line)));
  return {
    metricsText,
    log: createRequestLog(logger, new Secret(key)),
    /** The security events since the last call, without what every line has. */
    told: (): unknown[] =>
      lines
        .splice(0)
        .filter(({ message }) => message === 'security event')
        .map(({ time: _, level, service, message: __, ...event }) => {
          expect([level, service]).toEqual(['info', 'identity']);
          return event;
        }),
    /** Code, reason and client of each refusal with a line that is no security event. No line has what was sent. */
    refused: () => {
      expect(JSON.stringify(lines)).not.toContain('canary');
      return lines
        .filter(({ message }) => message === 'request refused')
        .map(({ code, reason, client }) => [code, reason, client]);
    },
    /** The labels before the client's, and the value, of each series of a counter that names `client`. */
    counted: async (counter: string, client: string) => {
      const series = (await metricsText()).matchAll(
        new RegExp(`^course_exchange_${counter}_total\\{(.*),client_id="${client}"\\} (\\d+)$`, 'gm'),
      );
      return [...series].map(([, labels = '', value]) => [
        ...[...labels.matchAll(/"([^"]*)"/g)].map(([, label]) => label),
        Number(value),
      ]);
    },
  };
}
