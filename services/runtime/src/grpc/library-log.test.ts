// What grpc-js prints is a log line; what it traces is not printed.
import { experimental, logVerbosity, setLogVerbosity } from '@grpc/grpc-js';
import { expect, test, vi } from 'vitest';
import { createLogger } from '../process/logger.ts';
import { logGrpcErrors } from './library-log.ts';

test('an error of grpc-js is a JSON line, and its traces are left out', () => {
  const printed = vi.spyOn(console, 'error');
  const lines: string[] = [];
  logGrpcErrors(createLogger('gateway', 'debug', (line) => lines.push(line)));
  setLogVerbosity(logVerbosity.DEBUG);
  experimental.log(logVerbosity.ERROR, 'Connection to 127.0.0.1:1 rejected');
  experimental.log(logVerbosity.DEBUG, 'headers: a secret');
  setLogVerbosity(logVerbosity.ERROR);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', service: 'gateway', message: 'gRPC error', error: 'Connection to 127.0.0.1:1 rejected' },
  ]);
  expect(printed).not.toHaveBeenCalled();
});
