import { inspect } from 'node:util';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createLogger, describeError, logText, toggleDebugLines } from './logger.ts';
import { carryContextAcrossAwaits, withCall } from './request-context.ts';
import { Secret } from './secret.ts';

beforeAll(() => carryContextAcrossAwaits());

function logged(run: (logger: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  run(createLogger('test', 'info', (line) => lines.push(line)));
  return lines.map((line) => JSON.parse(line));
}

test('a line is JSON with time, level, service, message, fields and the request id of the active call', () => {
  const [line] = logged((logger) =>
    context.with(withCall(ROOT_CONTEXT, 'request-17', Date.now()), () =>
      logger.info('served', { route: logText('/x'), status: 200 }),
    ),
  );
  expect(line).toMatchObject({
    level: 'info',
    service: 'test',
    message: 'served',
    requestId: 'request-17',
    route: '/x',
    status: 200,
  });
});

test('a plain string or a secret does not compile as a field (R27)', () => {
  const token: string = 'canary';
  logged((logger) => {
    // @ts-expect-error a plain string may be anything
    logger.info('message', { token });
    // @ts-expect-error a secret is never a field
    logger.info('message', { token: new Secret('canary') });
  });
});

test('a secret shows a placeholder however it is printed (R27)', () => {
  const secret = new Secret('canary');
  for (const shown of [
    `${secret}`,
    JSON.stringify({ secret }),
    inspect({ secret }),
    inspect(new Secret({ deep: 'canary' })),
  ]) {
    expect(shown).not.toContain('canary');
  }
  expect(secret.reveal()).toBe('canary');
});

test('an unknown error is described by class, code and place, never by its message (R27)', () => {
  const cause = Object.assign(new RangeError('canary of the cause'), { code: '08P01' });
  const error = Object.assign(new TypeError('canary@example.org\n    at canary'), {
    code: '23505',
    detail: 'Key (email)=(canary)',
  });
  error.cause = cause;
  const described = describeError(error);
  expect(described).toMatchObject({ error: 'TypeError', errorCode: '23505', cause: 'RangeError' });
  expect(described.causeCode).toBe('08P01');
  expect(JSON.stringify(described)).not.toMatch(/canary|email/);
  expect(described.at).toContain('logger.test.ts');
});

test('frames name the last folder and the file, with or without a function', () => {
  const error = new Error('canary');
  error.stack = [
    'Error: canary',
    '    at answer (file:///srv/app/services/rpc/answer.ts:3:4)',
    '    at async /srv/app/services/main.ts:5:6',
    '    at load (node:internal/modules/esm/loader:7:8)',
  ].join('\n');
  expect(describeError(error).at).toBe(
    'at answer (rpc/answer.ts:3:4) < at async services/main.ts:5:6 < at load (node:internal/modules/esm/loader:7:8)',
  );
});

test('a repeated fault is ten lines and one with the number left out; another fault is logged', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lines = logged((logger) => {
    const fail = (route: string) => logger.warn('answer failed', { route: logText(route), status: 503 });
    for (let nth = 0; nth < 15; nth += 1) fail('/token');
    fail('/userinfo');
    vi.advanceTimersByTime(10_000);
    fail('/token');
    vi.advanceTimersByTime(10_000);
  });
  const told = lines.map(({ route, repeated }) => [route, repeated]);
  expect(told).toEqual([
    ...Array(10).fill(['/token', undefined]),
    ['/userinfo', undefined],
    ['/token', 5],
    ['/token', undefined],
  ]);
});

test('a record is a line of level info, whatever the threshold, also after all lines were on and off', () => {
  const lines: string[] = [];
  const logger = createLogger('test', 'error', (line) => lines.push(line));
  logger.info('not written');
  logger.record('audited', { sequence: 7 });
  toggleDebugLines(logger);
  toggleDebugLines(logger);
  logger.record('audited', { sequence: 8 });
  const records = lines
    .map((line) => JSON.parse(line))
    .filter(({ message }) => message !== 'log level changed');
  expect(records).toMatchObject([7, 8].map((sequence) => ({ level: 'info', service: 'test', sequence })));
});

test('the lines of all levels are turned on and off while the process runs', () => {
  const lines: string[] = [];
  const logger = createLogger('test', 'warn', (line) => lines.push(line));
  logger.info('not written');
  toggleDebugLines(logger);
  logger.debug('written');
  toggleDebugLines(logger);
  logger.info('not written');
  const said = lines.map((line) => JSON.parse(line)).map(({ message, debug }) => debug ?? message);
  expect(said).toEqual([true, 'written', false]);
});
