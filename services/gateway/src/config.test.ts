// The gateway's settings refuse what would go wrong later.
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const least = {
  ISSUER: 'https://exchange.example',
  IDENTITY_TARGET: 'dns:///identity:7001',
  CATALOG_TARGET: 'dns:///design-catalog:7001',
};

test('three settings are enough; no proxy is trusted by default', () => {
  expect(readConfig(least)).toMatchObject({ HTTP_PORT: 8080, TRUSTED_PROXIES: [], RPC_TIMEOUT_MS: 1800 });
});

test('no network is trusted that is wider than /8, or /16 in IPv6', () => {
  for (const proxies of ['0.0.0.0/0', '10.0.0.0/7', '::/0', 'fd00::/15', '10.0.0.0/8,::/0'])
    expect(() => readConfig({ ...least, TRUSTED_PROXIES: proxies })).toThrow(/TRUSTED_PROXIES/);
});

test('nor one of IPv4 that is written in IPv6', () => {
  for (const proxies of [
    '::ffff:0:0/96',
    '::ffff:0.0.0.0/96',
    '::ffff:10.0.0.0/103',
    '::/16',
    '0:0:0:0:0:f000::/84',
  ])
    expect(() => readConfig({ ...least, TRUSTED_PROXIES: proxies })).toThrow(/TRUSTED_PROXIES/);
  const narrow = { ...least, TRUSTED_PROXIES: '::ffff:10.0.0.0/104,::ffff:10.1.2.3' };
  expect(readConfig(narrow).TRUSTED_PROXIES).toHaveLength(2);
});

test('a trusted proxy is an address or a network', () => {
  const valid = readConfig({ ...least, TRUSTED_PROXIES: '10.0.0.0/8, ::1, fd00::/16,192.0.2.1' });
  expect(valid.TRUSTED_PROXIES).toHaveLength(4);
  for (const proxies of ['all', '10.0.0.0/33', '10.0.0.0/8/8', '::1/129', 'loopback'])
    expect(() => readConfig({ ...least, TRUSTED_PROXIES: proxies })).toThrow(/TRUSTED_PROXIES/);
});
