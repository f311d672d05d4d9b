// Each security event is one counter, and one log line or one of a sum.
import { randomBytes } from 'node:crypto';
import { logAuditHead } from '@course-exchange/runtime/audit/table';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { Secret } from '@course-exchange/runtime/process/secret';
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ClientId, Sub } from './ids.ts';
import { createRequestLog } from './request-log.ts';
import { type SecurityEvent, securityEvents } from './security-events.ts';

const { metricsText = () => Promise.reject(new Error('no metrics')) } = await startTelemetry('identity', {
  OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
  OTEL_METRICS_EXPORTER: 'prometheus',
  OTEL_TRACES_SAMPLER_ARG: 1,
});
const lines: string[] = [];
const logger = createLogger('identity', 'error', (line) => lines.push(line));
const { observe: tell } = createRequestLog(logger, new Secret(randomBytes(32)));

/** Values of the counter by its labels. */
async function counted(): Promise<Map<string, number>> {
  const found = (await metricsText()).matchAll(
    /^course_exchange_security_events_total\{event="(.*)",reason="(.*)",client_id="(.*)"\} (\d+)$/gm,
  );
  return new Map(
    [...found].map(([, event, reason, client, value]) => [`${event} ${reason} ${client}`, Number(value)]),
  );
}

test('a request that names no client is counted from 0 on', async () => {
  const zeros = await counted();
  expect(zeros.get('client_authentication.failed wrong_secret unknown')).toBe(0);
  expect(zeros.get('login.throttled  unknown')).toBe(0);
  expect([...zeros.keys()].filter((labels) => /^(?:grant|code|consent)/.test(labels))).toEqual([]);
});

test('every security event counts once for each line of it, with its reason [R33.1 R33.2]', async () => {
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

test('names a client only if it has authenticated', async () => {
  const client = 'acme' as ClientId;
  tell({ event: 'refresh_token.refused', reason: 'reused', client });
  tell({ event: 'consent.given', client });
  tell({ event: 'client_authentication.failed', reason: 'wrong_secret', client });
  tell({ event: 'login.accepted', client });
  const named = [...(await counted()).keys()].filter((labels) => labels.endsWith(client));
  expect(named).toEqual(['refresh_token.refused reused acme', 'consent.given  acme']);
});

/** A log whose minute the test ends. */
function minutes() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const written: Record<string, unknown>[] = [];
  const own = createLogger('identity', 'error', (line) => written.push(JSON.parse(line)));
  const { observe } = createRequestLog(own, new Secret(randomBytes(32)));
  return {
    record: observe,
    endMinute: () => void vi.advanceTimersByTime(60_000),
    written: () => written.splice(0),
  };
}

const reused = { event: 'refresh_token.refused', reason: 'reused', client: 'sums' as ClientId } as const;

test('ten equal refusals in a minute have a line each, the others one line with their number [R33.2 R33.4]', async () => {
  const { record, endMinute, written } = minutes();
  for (let nth = 0; nth < 25; nth += 1) record({ ...reused, sub: 'ada' as Sub, network: '192.0.2.0/24' });
  record({ ...reused, sub: 'ada' as Sub, network: '198.51.100.0/24' });
  const [line, ...others] = written();
  expect(others).toHaveLength(10);
  endMinute();
  const { user, network } = line ?? {};
  expect(written()).toMatchObject([{ ...reused, user, network, repeated: 15 }]);
  record({ ...reused, sub: 'ada' as Sub, network: '192.0.2.0/24' });
  expect(written()).toHaveLength(1);
  expect((await counted()).get('refresh_token.refused reused sums')).toBe(27);
});

test('a process writes 1,000 lines of refusals a minute; beyond that sums name event and reason alone [R33.5]', () => {
  const { record, endMinute, written } = minutes();
  for (let nth = 0; nth < 5_000; nth += 1) record({ ...reused, network: `network ${nth}` });
  for (let nth = 0; nth < 5; nth += 1) record({ event: 'login.throttled', network: `network ${nth}` });
  expect(written()).toHaveLength(1_000);
  endMinute();
  const sums = written().map(({ event, reason, repeated, network }) => [event, reason, repeated, network]);
  expect(sums).toEqual([
    ['refresh_token.refused', 'reused', 4_000, undefined],
    ['login.throttled', undefined, 5, undefined],
  ]);
});

test('a login, a consent and a revocation have a line each, however many are equal [R33.6]', () => {
  const { record, written } = minutes();
  const client = 'acme' as ClientId;
  for (let nth = 0; nth < 20; nth += 1) {
    record({ event: 'login.accepted', client });
    for (const event of ['consent.given', 'consent.denied', 'consent.withdrawn'] as const)
      record({ event, client });
    record({ event: 'grant.revoked', reason: 'code_replayed', client });
    record({ event: 'session.ended', reason: 'sign_out', client });
  }
  expect(written()).toHaveLength(120);
});
