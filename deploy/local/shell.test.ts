// Which variables of the shell reach the services.
import { expect, test } from 'vitest';
import { passedToServices } from './shell.ts';

test('a level is taken in any case', () => {
  const { environment, refused } = passedToServices(false, { LOG_LEVEL: 'INFO', TZ: 'Europe/Berlin' });
  expect(environment).toEqual({ LOG_LEVEL: 'INFO', TZ: 'Europe/Berlin' });
  expect(refused).toEqual([]);
});

test.each([
  [{ LOG_LEVEL: 'verbose' }, 'LOG_LEVEL is not passed on to the services: they take one of debug'],
  [{ OTEL_METRICS_EXPORTER: 'console,otlp' }, 'OTEL_METRICS_EXPORTER is not passed on'],
  [{ OTEL_TRACES_SAMPLER_ARG: 'endpoint=http://localhost:1' }, 'OTEL_TRACES_SAMPLER_ARG is not passed on'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4317' }, 'OTEL_EXPORTER_OTLP_ENDPOINT is not passed on'],
])('a value that no service takes is left out with a sentence: %j', (shell, sentence) => {
  const { environment, refused } = passedToServices(false, shell);
  expect(environment).toEqual({});
  expect(refused).toEqual([expect.stringContaining(sentence)]);
});

test('what is meant for other programs is not passed on', () => {
  const shell = { OTEL_SERVICE_NAME: 'mine', OTEL_CONFIG_FILE: '/x', NODE_OPTIONS: '--inspect', PGHOST: 'a' };
  expect(passedToServices(false, shell)).toEqual({ environment: {}, refused: [] });
});

test('an observed stack sends its telemetry nowhere else', () => {
  const shell = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://elsewhere.example', PATH: '/bin' };
  expect(passedToServices(true, shell).environment).toEqual({ PATH: '/bin' });
});
