import { networksOf } from '@course-exchange/runtime/process/ip-address';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isComplete, readEmail } from './credentials.ts';
import { accountKey, secondsToWait } from './throttle.ts';

describe('the delay (R30.2)', () => {
  it('is in whole seconds, never zero', () => {
    expect([1, 999, 1000, 1001, 60_000].map(secondsToWait)).toEqual([1, 1, 1, 2, 60]);
  });
});

describe('the network of an address (R30.8, R30.10)', () => {
  it.each([
    ['192.0.2.77', '192.0.2.0/24'],
    ['::ffff:192.0.2.77', '192.0.2.0/24'],
    ['::FFFF:c000:024d', '192.0.2.0/24'],
    ['64:ff9b::192.0.2.77', '192.0.2.0/24'],
    ['64:FF9B:0:0::c000:24d', '192.0.2.0/24'],
    ['64:ff9b:1:7::192.0.2.77', '192.0.2.0/24'],
    ['64:ff9b:1:c000:2:4d00::', '64:ff9b:1:c000::/64'],
    ['64:ff9b:0:1::192.0.2.77', '64:ff9b:0:1::/64'],
    ['64:ff9b:2::192.0.2.77', '64:ff9b:2:0::/64'],
    ['2002:c000:24d:5::1', '192.0.2.0/24'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdb2', '192.0.2.0/24'],
    ['2001:1::3fff:fdb2', '2001:1:0:0::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['', 'unknown'],
    ['192.0.2', 'unknown'],
    ['}{:evil', 'unknown'],
  ])('%j belongs to %s', (address, network) => {
    expect(networksOf(address)[0]).toBe(network);
  });

  it('is in IPv6 a /64 within a /56 within a /48', () => {
    const networks = ['2001:db8:1:2f3::/64', '2001:db8:1:200::/56', '2001:db8:1:0::/48'];
    expect(networksOf('2001:db8:1:2f3::7')).toEqual(networks);
  });

  it('two addresses share it when their first 24 bits agree', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.nat(255), (address, last) => {
        const neighbour = `${address.slice(0, address.lastIndexOf('.'))}.${last}`;
        expect(networksOf(neighbour)).toEqual(networksOf(address));
        for (const embedding of ['::ffff:', '64:ff9b::'])
          expect(networksOf(embedding + address)).toEqual(networksOf(address));
      }),
    );
  });

  it('any IPv6 address gives four groups, however it is written', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
        expect(networksOf(address)).toEqual(networksOf(canonical));
        expect(networksOf(address)[0]).toMatch(/^(([0-9a-f]{1,4}:){4}:\/64|[\d.]+\.0\/24)$/);
      }),
    );
  });
});

describe('the login form', () => {
  it('asks for both fields within their lengths', () => {
    expect(isComplete('a@b.example', 'x')).toBe(true);
    expect(isComplete('', 'x')).toBe(false);
    expect(isComplete('a@b.example', '')).toBe(false);
    expect(isComplete('a'.repeat(255), 'x')).toBe(false);
    expect(isComplete('a@b.example', 'é'.repeat(513))).toBe(false);
    expect(readEmail('  a@b.example ')).toBe('a@b.example');
  });

  it('counts an account under a name that reveals nothing and does not depend on letter case', () => {
    const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    expect(accountKey(key, 'Ada@Example.org')).toBe(accountKey(key, 'ada@example.ORG'));
    expect(accountKey(key, 'ada@example.org')).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(accountKey(key, 'ada@example.org')).not.toBe(accountKey(key, 'bob@example.org'));
    expect(accountKey(key, 'ada@example.org')).not.toBe(accountKey(other, 'ada@example.org'));
  });
});
