// The settings: what is missing or wrong is reported at once and never quoted, and the README names every one.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig, settingNames } from './config.ts';

const valid = {
  PUBLIC_URL: 'https://partner.example',
  ISSUER: 'http://127.0.0.1:8080',
  CLIENT_ID: 'partner',
  CLIENT_SECRET: 'canary',
  TOKEN_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
  DATABASE_FILE: '/tmp/partner.sqlite',
};

test('a whole configuration is read, an empty value counts as absent', () => {
  expect(readConfig({ ...valid, HTTP_PORT: '', STOP_WITH_PARENT: 'true' })).toMatchObject({
    CLIENT_SECRET: 'canary',
    SCOPES: 'openid email profile',
    HTTP_PORT: 0,
    STOP_WITH_PARENT: true,
  });
});

test('every mistake is reported in one error that quotes no value', () => {
  const broken = { CLIENT_ID: '', ISSUER: 'http://far.example', HTTP_PORT: '70000', LOG_LEVEL: 'x' };
  const read = () => readConfig({ ...valid, ...broken, TOKEN_ENCRYPTION_KEY: 'canary' });
  expect(read).toThrow(/^configuration:\n {2}/);
  for (const sentence of [
    'CLIENT_ID is missing: expected some text',
    'ISSUER is not valid: expected an https origin',
    'HTTP_PORT is not valid: expected a port number',
    'LOG_LEVEL is not valid: expected one of debug, info, warn, error',
    'TOKEN_ENCRYPTION_KEY is not valid: expected 32 bytes',
  ])
    expect(read).toThrow(sentence);
  expect(read).not.toThrow(/canary|far|70000/);
});

test('a setting may lie in a file, but not in both', () => {
  const folder = mkdtempSync(join(tmpdir(), 'demo-partner-config-'));
  const CLIENT_SECRET_FILE = join(folder, 'secret');
  writeFileSync(CLIENT_SECRET_FILE, 'from a file\n');
  expect(readConfig({ ...valid, CLIENT_SECRET: '', CLIENT_SECRET_FILE }).CLIENT_SECRET).toBe('from a file');
  expect(() => readConfig({ ...valid, CLIENT_SECRET_FILE })).toThrow('expected one of them');
  rmSync(folder, { recursive: true });
  expect(() => readConfig({ ...valid, CLIENT_SECRET: '', CLIENT_SECRET_FILE })).toThrow(
    'CLIENT_SECRET_FILE cannot be read',
  );
});

test('the README names every setting', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  for (const name of settingNames) expect(readme).toContain(`\`${name}\``);
});
