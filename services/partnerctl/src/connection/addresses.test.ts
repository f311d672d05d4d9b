import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privatePorts } from '@course-exchange/rules/private-ports';
import { afterAll, expect, test } from 'vitest';
import { type AddressSources, findAddress, parseAddress } from './addresses.ts';

const home = mkdtempSync(join(tmpdir(), 'partnerctl-addresses-'));
mkdirSync(join(home, '.run'));
mkdirSync(join(home, 'docs', 'deep'), { recursive: true });
const operator = { identity: '127.0.0.1:4001', catalog: 'unix:/run/feed.sock' };
writeFileSync(join(home, '.run', 'stack.json'), JSON.stringify({ operator }));
afterAll(() => rmSync(home, { recursive: true }));

const sources = (more: Partial<AddressSources>): AddressSources => ({
  flags: {},
  environment: {},
  directory: '/',
  ...more,
});

test('the first of flag, variable, stack file and loopback wins', () => {
  const environment = { PARTNERCTL_IDENTITY: 'identity.example:2' };
  const directory = join(home, 'docs', 'deep');
  const flags = { identity: '127.0.0.1:1' };
  expect(findAddress('identity', sources({ flags, environment, directory })).url).toBe('http://127.0.0.1:1');
  expect(findAddress('identity', sources({ environment, directory })).url).toBe('http://identity.example:2');
  expect(findAddress('identity', sources({ directory })).url).toBe('http://127.0.0.1:4001');
  expect(findAddress('identity', sources({})).url).toBe(`http://127.0.0.1:${privatePorts.OPERATOR}`);
  expect(findAddress('catalog', sources({})).url).toBe(`http://127.0.0.1:${privatePorts.FEED}`);
});

test('the local stack that is found is not mixed with a service of another installation', () => {
  const elsewhere = { environment: { PARTNERCTL_IDENTITY: 'identity.example:2' }, directory: home };
  expect(findAddress('catalog', sources(elsewhere)).url).toBe(`http://127.0.0.1:${privatePorts.FEED}`);
  const stack = join(home, '.run', 'stack.json');
  expect(findAddress('catalog', sources({ ...elsewhere, flags: { stack } })).socket).toBe('/run/feed.sock');
});

test("the service's settings say where in its container; what an operator names still wins", () => {
  const found = (environment: Record<string, string>, name: 'identity' | 'catalog' = 'identity') =>
    findAddress(name, sources({ environment }));
  expect(found({ OPERATOR_PORT: '7999' }).url).toBe('http://127.0.0.1:7999');
  expect(found({ OPERATOR_HOST: '0.0.0.0', OPERATOR_PORT: '7999' }).url).toBe('http://127.0.0.1:7999');
  expect(found({ OPERATOR_HOST: '::1' }).url).toBe(`http://[::1]:${privatePorts.OPERATOR}`);
  expect(found({ OPERATOR_PORT: '0' }).url).toBe(`http://127.0.0.1:${privatePorts.OPERATOR}`);
  expect(found({ OPERATOR_SOCKET: '/run/o.sock', OPERATOR_PORT: '7999' }).socket).toBe('/run/o.sock');
  expect(found({ OPERATOR_PORT: '7999', OPERATOR_TLS_CERT_FILE: '/tls/tls.crt' }).url).toBe(
    'https://127.0.0.1:7999',
  );
  expect(found({ FEED_PORT: '7998', OPERATOR_PORT: '7999' }, 'catalog').url).toBe('http://127.0.0.1:7998');
  expect(found({ OPERATOR_PORT: '7999', PARTNERCTL_IDENTITY: 'there:1' }).url).toBe('http://there:1');
  const stack = {
    environment: { OPERATOR_PORT: '7999' },
    flags: { stack: join(home, '.run', 'stack.json') },
  };
  expect(findAddress('identity', sources(stack)).url).toBe('http://127.0.0.1:4001');
});

test('a stack file found in a directory above names a Unix socket', () => {
  const found = findAddress('catalog', sources({ directory: join(home, 'docs') }));
  expect(found).toMatchObject({ socket: '/run/feed.sock' });
  expect(found.display).toContain('stack.json');
});

test.each([
  '',
  'here',
  '127.0.0.1',
  'http://127.0.0.1:1',
  'unix:run',
  'a b:1',
  'https://host:1/path',
  '127.0.0.1:99999',
  '127.0.0.1:0',
])('the address "%s" is refused', (text) => {
  expect(() => parseAddress(text, 'a test')).toThrow('is not an address');
});
