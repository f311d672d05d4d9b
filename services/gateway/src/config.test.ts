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

test.each([
  ['an address or a network', '10.0.0.0/8, ::1, fd00::/16,192.0.2.1', 4],
  ['one of IPv4 that is written in IPv6', '::ffff:10.0.0.0/104,::ffff:10.1.2.3', 2],
])('%s is trusted', (_, TRUSTED_PROXIES, count) => {
  expect(readConfig({ ...least, TRUSTED_PROXIES }).TRUSTED_PROXIES).toHaveLength(count);
});

test.each([
  ['one wider than /8, or /16 in IPv6', '0.0.0.0/0 10.0.0.0/7 ::/0 fd00::/15 10.0.0.0/8,::/0'],
  [
    'one as wide, of IPv4 in IPv6',
    '::ffff:0:0/96 ::ffff:0.0.0.0/96 ::ffff:10.0.0.0/103 ::/16 0:0:0:0:0:f000::/84',
  ],
  ['no network', 'all 10.0.0.0/33 10.0.0.0/8/8 ::1/129 loopback'],
])('%s is refused', (_, refused) => {
  for (const TRUSTED_PROXIES of refused.split(' '))
    expect(() => readConfig({ ...least, TRUSTED_PROXIES })).toThrow(/TRUSTED_PROXIES/);
});
