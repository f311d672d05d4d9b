// Which setups of Redis the settings can say, which mistakes are reported, and that credentials follow their files.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from '@course-exchange/runtime/process/settings';
import { expect, onTestFinished, test } from 'vitest';
import { parseRedisAddress, type RedisTarget, redisRules, redisSettings, redisTarget } from './settings.ts';

type Source = Readonly<Record<string, string>>;

function targetOf(source: Source): RedisTarget {
  return redisTarget(readSettings(redisSettings, source, redisRules), source);
}

const mistake = (sentence: string) => expect.objectContaining({ mistakes: [sentence] });

test.each([
  ['redis://redis', ['redis undefined']],
  ['redis://a:7000,b.example:7001,[::1]:7002', ['a 7000', 'b.example 7001', '::1 7002']],
  ['rediss://user:p%40ss@redis:6380/3', ['redis 6380']],
])('%s is an address', (url, hosts) => {
  expect(parseRedisAddress(url)?.hosts.map(({ host, port }) => `${host} ${port}`)).toEqual(hosts);
});

test.each([
  'http://redis',
  'redis://',
  'redis://a,',
  'redis://a,,b',
  'redis://a:0',
  'redis://a:65536',
  'redis://a:x',
  'redis://a b',
  'redis://a/x',
  'redis://a?family=6',
  'redis://:50%@a',
])('%s is none', (url) => {
  const sentence =
    'REDIS_URL is not valid: expected redis[s]://[user[:password]@]host[:port][,host[:port]…][/db]';
  expect(() => targetOf({ REDIS_URL: url })).toThrow(mistake(sentence));
});

const mistakes: readonly (readonly [Source, string])[] = [
  [
    { REDIS_URL: 'redis://a,b' },
    'REDIS_URL is not valid: expected one host unless REDIS_SENTINEL_MASTER or REDIS_CLUSTER is set',
  ],
  [
    { REDIS_URL: 'redis://a', REDIS_SENTINEL_MASTER: 'm', REDIS_CLUSTER: 'true' },
    'REDIS_SENTINEL_MASTER and REDIS_CLUSTER are both set: expected one of them',
  ],
  [
    { REDIS_URL: 'redis://a/1', REDIS_CLUSTER: 'true' },
    'REDIS_URL is not valid: expected no database number where REDIS_CLUSTER is true',
  ],
  [
    { REDIS_URL: 'redis://a', REDIS_TLS_CA: 'pem' },
    'REDIS_TLS_CA is set: expected REDIS_URL to start with rediss://',
  ],
  [
    { REDIS_URL: 'redis://a', REDIS_SENTINEL_PASSWORD: 'canary' },
    'REDIS_SENTINEL_MASTER is missing: expected it where there is a user or password of the Sentinels',
  ],
];

test.each(mistakes)('%j is reported in one sentence', (source, sentence) => {
  expect(() => targetOf(source)).toThrow(mistake(sentence));
});

test.each([
  { REDIS_URL: 'redis://a,b:26380/2', REDIS_SENTINEL_MASTER: 'main', REDIS_SENTINEL_PASSWORD: 's' },
  { REDIS_URL: 'rediss://a:1,b:2', REDIS_CLUSTER: 'true', REDIS_TLS_CA: 'pem' },
])('%j is no mistake', (source: Source) => {
  expect(() => targetOf(source)).not.toThrow();
});

test('separate user and password replace those in the URL', () => {
  const url = 'redis://one:first@redis';
  expect(targetOf({ REDIS_URL: url }).credentials()).toMatchObject({ username: 'one', password: 'first' });
  const own = { REDIS_USERNAME: 'two', REDIS_PASSWORD: 'second' };
  expect(targetOf({ REDIS_URL: url, ...own }).credentials()).toMatchObject({
    username: 'two',
    password: 'second',
  });
});

test('a password and an authority in files are followed, and outlive a file that is just being replaced', () => {
  const folder = mkdtempSync(join(tmpdir(), 'course-exchange-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'password');
  writeFileSync(file, 'before\n');
  const target = targetOf({
    REDIS_URL: 'rediss://redis',
    REDIS_PASSWORD_FILE: file,
    REDIS_TLS_CA_FILE: file,
  });
  expect(target.credentials().password).toBe('before');
  writeFileSync(file, 'after\n');
  expect(target.credentials()).toMatchObject({ password: 'after', authority: 'after' });
  rmSync(file);
  expect(target.credentials()).toMatchObject({ password: 'after', authority: 'after' });
});
