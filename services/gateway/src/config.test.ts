// The gateway's settings refuse what would go wrong later.
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const least = {
  ISSUER: 'https://exchange.example',
  IDENTITY_TARGET: 'dns:///identity:7001',
  CATALOG_TARGET: 'dns:///design-catalog:7001',
};

test('three settings are enough; nobody is trusted as a proxy by default', () => {
  expect(readConfig(least)).toMatchObject({ HTTP_PORT: 8080, TRUSTED_PROXIES: [], RPC_TIMEOUT_MS: 1800 });
});

test('an issuer is an origin and nothing more (R28)', () => {
  for (const issuer of ['exchange.example', 'https://x.example/', 'https://x.example/a', 'ftp://x.example'])
    expect(() => readConfig({ ...least, ISSUER: issuer })).toThrow(/ISSUER is not valid/);
});

test('a trusted proxy is an address or a network', () => {
  const valid = readConfig({ ...least, TRUSTED_PROXIES: '10.0.0.0/8, ::1, fd00::/8,192.0.2.1' });
  expect(valid.TRUSTED_PROXIES).toHaveLength(4);
  for (const proxies of ['all', '10.0.0.0/33', '10.0.0.0/8/8', '::1/129', 'loopback'])
    expect(() => readConfig({ ...least, TRUSTED_PROXIES: proxies })).toThrow(/TRUSTED_PROXIES/);
});
