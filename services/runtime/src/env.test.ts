import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ConfigurationError, type Rule, readSettings, ruleOn } from './env.ts';
import {
  choice,
  flag,
  integer,
  list,
  maybe,
  optional,
  origin,
  port,
  ratio,
  secret,
  secretBytes,
  text,
  url,
} from './variables.ts';

const settings = {
  HTTP_PORT: port('where to listen'),
  LOG_LEVEL: optional(choice('how much to log', ['info', 'error']), 'info'),
  ISSUER: url('public address', ['https:']),
  KEY: secretBytes('encrypts keys', 4),
  PASSWORD: maybe(secret(text('opens the store'))),
  PEERS: optional(list(integer('peers', 1, 9)), []),
  VERBOSE: optional(flag('says more'), false),
};

function mistakesOf(source: Record<string, string>, rules: readonly Rule[] = []): readonly string[] {
  try {
    readSettings(settings, source, rules);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.mistakes;
    throw error;
  }
}

test('all mistakes are reported together, each naming the variable and what is expected', () => {
  expect(
    mistakesOf({ HTTP_PORT: '99999', ISSUER: 'http://a', KEY: 'AA', VERBOSE: 'yes', PEERS: '1,x' }),
  ).toEqual([
    'HTTP_PORT is not valid: expected a port number (0 lets the system choose)',
    'ISSUER is not valid: expected a URL starting with https://',
    'KEY is not valid: expected 4 bytes as base64 or base64url',
    'PEERS is not valid: expected a comma-separated list, each item a whole number from 1 to 9',
    'VERBOSE is not valid: expected true or false',
  ]);
});

test('an empty value counts as absent, and a mistake never quotes the value', () => {
  const [mistake] = mistakesOf({ HTTP_PORT: '', ISSUER: 'https://a', KEY: 'AAAAAA' });
  expect(mistake).toBe('HTTP_PORT is missing: expected a port number (0 lets the system choose)');
  expect(mistakesOf({ HTTP_PORT: 'hunter2', ISSUER: 'https://a', KEY: 'AAAAAA' }).join()).not.toContain(
    'hunter2',
  );
});

test('a value may stand in a file, without its last line break, but not in both places', () => {
  const directory = mkdtempSync(join(tmpdir(), 'env-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'password');
  writeFileSync(file, 'open sesame\n');
  const valid = { HTTP_PORT: '0', ISSUER: 'https://a', KEY: 'AAAAAA' };
  expect(readSettings(settings, { ...valid, PASSWORD_FILE: file }).PASSWORD?.reveal()).toBe('open sesame');
  expect(mistakesOf({ ...valid, PASSWORD: 'x', PASSWORD_FILE: file })).toEqual([
    'PASSWORD and PASSWORD_FILE are both set: expected one of them',
  ]);
  expect(mistakesOf({ ...valid, PASSWORD_FILE: '/does/not/exist' })).toEqual([
    'PASSWORD_FILE cannot be read: expected the path of a readable file',
  ]);
});

test('a valid configuration is read with its types and fallbacks', () => {
  const values = readSettings(settings, {
    HTTP_PORT: '8080',
    ISSUER: 'https://a',
    KEY: 'AAAAAA',
    PEERS: '1, 2',
  });
  expect(values).toMatchObject({ HTTP_PORT: 8080, LOG_LEVEL: 'info', PEERS: [1, 2], VERBOSE: false });
  expect(values.KEY.reveal()).toHaveLength(4);
});

const quiet = ruleOn(settings, ['LOG_LEVEL', 'VERBOSE'], ({ LOG_LEVEL, VERBOSE }) =>
  VERBOSE && LOG_LEVEL === 'error' ? ['VERBOSE is not valid: expected false where LOG_LEVEL is error'] : [],
);

test('what variables must be together is reported with the mistakes of others', () => {
  const source = { HTTP_PORT: 'x', ISSUER: 'https://a', KEY: 'AAAAAA', VERBOSE: 'true' };
  expect(mistakesOf({ ...source, LOG_LEVEL: 'error' }, [quiet])).toEqual([
    'HTTP_PORT is not valid: expected a port number (0 lets the system choose)',
    'VERBOSE is not valid: expected false where LOG_LEVEL is error',
  ]);
  expect(mistakesOf({ ...source, LOG_LEVEL: 'loud' }, [quiet])).toEqual([
    'HTTP_PORT is not valid: expected a port number (0 lets the system choose)',
    'LOG_LEVEL is not valid: expected one of info, error',
  ]);
});

test('an origin has neither path nor trailing slash (R28); a ratio lies from 0 to 1', () => {
  expect(origin('').parse('http://127.0.0.1:8080')).toBe('http://127.0.0.1:8080');
  for (const wrong of ['exchange.example', 'https://x.example/', 'https://x.example/a', 'ftp://x.example'])
    expect(origin('').parse(wrong)).toBeUndefined();
  expect(['0', '0.25', '1', '1.0'].map(ratio('').parse)).toEqual([0, 0.25, 1, 1]);
  for (const wrong of ['-1', '1.5', '.', '1e-3', '']) expect(ratio('').parse(wrong)).toBeUndefined();
});
