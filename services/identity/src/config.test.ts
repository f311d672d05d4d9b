// Every mistake of identity's configuration is reported at once, also what settings must be together.
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

const mistakes = (...expected: unknown[]) => expect.objectContaining({ mistakes: expected });

test('the issuer, the operator port and a single setting are refused in one error', () => {
  readConfig(least);
  const open = { OPERATOR_POSTGRES_URL: 'postgres://operator@postgres/x', OPERATOR_HOST: '0.0.0.0' };
  expect(() => readConfig({ ...least, ...open, RPC_PORT: 'x', ISSUER: 'http://exchange.example' })).toThrow(
    mistakes(
      'RPC_PORT is not valid: expected a port number (0 lets the system choose)',
      'ISSUER is not valid: expected https:// where ENVIRONMENT is production',
      'OPERATOR_HOST is not valid: expected a loopback address where OPERATOR_TLS_CERT is not set',
    ),
  );
});

test.each([{ REDIS_SENTINEL_MASTER: 'main' }, { REDIS_CLUSTER: 'true' }])(
  'production refuses %j without a replica that confirms',
  (failingOver) => {
    const source = { ...least, ...failingOver };
    expect(() => readConfig(source)).toThrow(
      mistakes(
        'REDIS_MIN_REPLICAS is not valid: expected 1 or more where ENVIRONMENT is production and REDIS_SENTINEL_MASTER or REDIS_CLUSTER is set',
      ),
    );
    expect(() => readConfig({ ...source, REDIS_MIN_REPLICAS: '1' })).not.toThrow();
    expect(() => readConfig({ ...source, ENVIRONMENT: 'test' })).not.toThrow();
  },
);

test('half a certificate is refused without repeating it, and only where there is an operator port', () => {
  const half = { OPERATOR_TLS_CERT: 'canary' };
  expect(() => readConfig({ ...least, ...half })).not.toThrow();
  const read = () => readConfig({ ...least, ...half, OPERATOR_POSTGRES_URL: 'postgres://o@postgres/x' });
  expect(read).toThrow(mistakes(expect.stringMatching(/^(?!.*canary).*OPERATOR_TLS_KEY/)));
});
