import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  choice,
  flag,
  integer,
  list,
  origin,
  port,
  ratio,
  secret,
  secretBytes,
  url,
} from './setting-kinds.ts';
import { ConfigurationError, documentationOf, type Rule, readSettings, ruleOn } from './settings.ts';

const settings = {
  HTTP_PORT: port().describe('Where to listen'),
  LOG_LEVEL: choice(['info', 'error']).default('info').describe('How much to log'),
  ISSUER: url(['https:']),
  KEY: secretBytes(4).describe('Encrypts keys'),
  PASSWORD: secret().optional().describe('Opens the store'),
  PEERS: list('a host', (item) => /^[a-z]+$/.test(item)).default([]),
  VERBOSE: flag().default(false),
};

function problemsOf(source: Record<string, string>, rules: readonly Rule[] = []): readonly string[] {
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
    problemsOf({ HTTP_PORT: '99999', ISSUER: 'http://a', KEY: 'AA', VERBOSE: 'yes', PEERS: 'a,1' }),
  ).toEqual([
    'HTTP_PORT is not valid: expected a port number (0 lets the system choose)',
    'ISSUER is not valid: expected a URL starting with https:',
    'KEY is not valid: expected 4 bytes as base64 or base64url',
    'PEERS is not valid: expected a comma-separated list, each item a host',
    'VERBOSE is not valid: expected true or false',
  ]);
});

test('an empty value counts as absent, and a mistake never quotes the value', () => {
  const [mistake] = problemsOf({ HTTP_PORT: '', ISSUER: 'https://a', KEY: 'AAAAAA' });
  expect(mistake).toBe('HTTP_PORT is missing: expected a port number (0 lets the system choose)');
  expect(problemsOf({ HTTP_PORT: 'hunter2', ISSUER: 'https://a', KEY: 'AAAAAA' }).join()).not.toContain(
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
  expect(problemsOf({ ...valid, PASSWORD: 'x', PASSWORD_FILE: file })).toEqual([
    'PASSWORD and PASSWORD_FILE are both set: expected one of them',
  ]);
  expect(problemsOf({ ...valid, PASSWORD_FILE: '/does/not/exist' })).toEqual([
    'PASSWORD_FILE cannot be read: expected the path of a readable file',
  ]);
});

test('a valid configuration is read with its types and fallbacks', () => {
  const values = readSettings(settings, {
    HTTP_PORT: '8080',
    ISSUER: 'https://a',
    KEY: 'AAAAAA',
    PEERS: 'a, b',
  });
  expect(values).toMatchObject({ HTTP_PORT: 8080, LOG_LEVEL: 'info', PEERS: ['a', 'b'], VERBOSE: false });
  expect(values.KEY.reveal()).toHaveLength(4);
});

test('a choice is taken in any case', () => {
  const source = { HTTP_PORT: '8080', ISSUER: 'https://a', KEY: 'AAAAAA', LOG_LEVEL: 'Error' };
  expect(readSettings(settings, source)).toMatchObject({ LOG_LEVEL: 'error' });
  expect(choice(['ES256']).parse('es256')).toBe('ES256');
});

const quiet = ruleOn(settings, ['LOG_LEVEL', 'VERBOSE'], ({ LOG_LEVEL, VERBOSE }) =>
  VERBOSE && LOG_LEVEL === 'error' ? ['VERBOSE is not valid: expected false where LOG_LEVEL is error'] : [],
);

test('a mistake of several variables together is reported with those of single ones', () => {
  const source = { HTTP_PORT: 'x', ISSUER: 'https://a', KEY: 'AAAAAA', VERBOSE: 'true' };
  expect(problemsOf({ ...source, LOG_LEVEL: 'error' }, [quiet])).toEqual([
    'HTTP_PORT is not valid: expected a port number (0 lets the system choose)',
    'VERBOSE is not valid: expected false where LOG_LEVEL is error',
  ]);
  expect(problemsOf({ ...source, LOG_LEVEL: 'loud' }, [quiet])).toEqual([
    'HTTP_PORT is not valid: expected a port number (0 lets the system choose)',
    'LOG_LEVEL is not valid: expected one of info, error',
  ]);
});

test('an origin has neither path nor trailing slash; numbers lie in their range', () => {
  expect(origin().parse('http://127.0.0.1:8080')).toBe('http://127.0.0.1:8080');
  for (const wrong of ['exchange.example', 'https://x.example/', 'https://x.example/a', 'ftp://x.example'])
    expect(origin().safeParse(wrong).success).toBe(false);
  expect(['0', '0.25', '1', '1.0'].map((raw) => ratio().parse(raw))).toEqual([0, 0.25, 1, 1]);
  for (const wrong of ['-1', '1.5', '.', '1e-3']) expect(ratio().safeParse(wrong).success).toBe(false);
  expect(integer(1, 9).parse('9')).toBe(9);
  for (const wrong of ['0', '10', '1.5', ' 1', 'x'])
    expect(integer(1, 9).safeParse(wrong).success).toBe(false);
});

test('a setting documents its purpose, what is expected, and its default', () => {
  expect(documentationOf(settings.LOG_LEVEL)).toEqual({
    about: 'How much to log',
    expects: 'one of info, error',
    secret: false,
    required: false,
    fallback: 'info',
  });
  expect(documentationOf(settings.PASSWORD)).toMatchObject({
    about: 'Opens the store',
    secret: true,
    required: false,
  });
  expect(documentationOf(settings.KEY)).toMatchObject({ secret: true, required: true });
});
