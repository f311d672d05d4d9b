// Each security event is one log line and one counter.
import { randomBytes } from 'node:crypto';
import { logAuditHead } from '@course-exchange/runtime/audit/table';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { Secret } from '@course-exchange/runtime/process/secret';
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import { expect, test } from 'vitest';
import type { ClientId } from './ids.ts';
import { createRequestLog } from './request-log.ts';
import { type SecurityEvent, securityEvents } from './security-events.ts';

const { metricsText = () => Promise.reject(new Error('no metrics')) } = await startTelemetry('identity', {
  OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
  OTEL_METRICS_EXPORTER: 'prometheus',
  OTEL_TRACES_SAMPLER_ARG: 1,
});
const lines: string[] = [];
const logger = createLogger('identity', 'error', (line) => lines.push(line));
const { onSecurityEvent: tell } = createRequestLog(logger, new Secret(randomBytes(32)));

/** Values of the counter by its labels. */
async function counted(): Promise<Map<string, number>> {
  const found = (await metricsText()).matchAll(
    /^course_exchange_security_events_total\{event="(.*)",reason="(.*)",client_id="(.*)"\} (\d+)$/gm,
  );
  return new Map(
    [...found].map(([, event, reason, client, value]) => [`${event} ${reason} ${client}`, Number(value)]),
  );
}

test('what names no client is counted from 0 on', async () => {
  const zeros = await counted();
  expect(zeros.get('client_authentication.failed wrong_secret unknown')).toBe(0);
  expect(zeros.get('login.throttled  unknown')).toBe(0);
  expect([...zeros.keys()].filter((labels) => /^(?:grant|code|consent)/.test(labels))).toEqual([]);
});

test('every security event counts once for each line of it, with its reason, an operator’s change beside the head of the audit log [R33.1 R33.2]', async () => {
  const told = Object.entries(securityEvents).flatMap(([event, reasons]) =>
    (reasons.length === 0 ? [undefined] : reasons).map((reason) => ({ event, reason }) as SecurityEvent),
  );
  for (const event of told) for (const _twice of [1, 2]) tell(event);
  const head = { sequence: 1, hash: 'b', previous: 'a' };
  const endings = 'secret.retire secret:s';
  logAuditHead(logger, head, 'local:ada', [endings]);
  const change = { message: 'audited', event: 'operator.change', operator: 'local:ada', ...head, endings };
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject(change);
  const expected = told.map(({ event, reason = '' }) => [`${event} ${reason} unknown`, 2] as const);
  expect(await counted()).toEqual(new Map([...expected, ['operator.change  unknown', 1]]));
  expect(lines.length).toBe(2 * told.length + 1);
});

test('names a client where it has proven itself, and nowhere else', async () => {
  const client = 'acme' as ClientId;
  tell({ event: 'refresh_token.refused', reason: 'reused', client });
  tell({ event: 'consent.given', client });
  tell({ event: 'client_authentication.failed', reason: 'wrong_secret', client });
  tell({ event: 'login.accepted', client });
  const named = [...(await counted()).keys()].filter((labels) => labels.endsWith(client));
  expect(named).toEqual(['refresh_token.refused reused acme', 'consent.given  acme']);
});
