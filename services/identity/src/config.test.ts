// Every mistake of identity's configuration is told at once, also what settings must be together.
import { ConfigurationError } from '@course-exchange/runtime/env';
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const bytes = Buffer.alloc(32).toString('base64url');
const least = {
  KEY_ENCRYPTION_KEY: bytes,
  USER_HASH_KEY: bytes,
  HEALTH_PORT: '0',
  RPC_PORT: '0',
  ISSUER: 'https://exchange.example',
  ENVIRONMENT: 'production',
  POSTGRES_URL: 'postgres://identity_rw@postgres/x',
  REDIS_URL: 'redis://redis',
};

function mistakesOf(source: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(source);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.mistakes;
    throw error;
  }
}

test('the issuer, the operator port and a single setting are refused in one error', () => {
  expect(mistakesOf(least)).toEqual([]);
  const open = { OPERATOR_POSTGRES_URL: 'postgres://operator@postgres/x', OPERATOR_HOST: '0.0.0.0' };
  expect(mistakesOf({ ...least, ...open, RPC_PORT: 'x', ISSUER: 'http://exchange.example' })).toEqual([
    'RPC_PORT is not valid: expected a port number (0 lets the system choose)',
    'ISSUER is not valid: expected https:// where ENVIRONMENT is production',
    'OPERATOR_HOST is not valid: expected a loopback address where OPERATOR_TLS_CERT is not set',
  ]);
});

test.each([{ REDIS_SENTINEL_MASTER: 'main' }, { REDIS_CLUSTER: 'true' }])(
  'production refuses %j without a replica that confirms',
  (failingOver) => {
    const source = { ...least, ...failingOver };
    expect(mistakesOf(source)).toEqual([
      'REDIS_MIN_REPLICAS is not valid: expected 1 or more where ENVIRONMENT is production and REDIS_SENTINEL_MASTER or REDIS_CLUSTER is set',
    ]);
    expect(mistakesOf({ ...source, REDIS_MIN_REPLICAS: '1' })).toEqual([]);
    expect(mistakesOf({ ...source, ENVIRONMENT: 'test' })).toEqual([]);
  },
);

test('half a certificate is refused without repeating it, and only where there is an operator port', () => {
  const half = { OPERATOR_TLS_CERT: 'canary' };
  expect(mistakesOf({ ...least, ...half })).toEqual([]);
  const [mistake] = mistakesOf({ ...least, ...half, OPERATOR_POSTGRES_URL: 'postgres://o@postgres/x' });
  expect(mistake).toContain('OPERATOR_TLS_KEY');
  expect(mistake).not.toContain('canary');
});
