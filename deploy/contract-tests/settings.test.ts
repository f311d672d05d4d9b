// What the contract program makes of its settings, and how it refuses bad ones.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { deploymentOf, readContractSettings } from './settings.ts';

const issuer = 'https://exchange.test';
const partner = {
  name: 'A Partner',
  clientId: 'a-partner',
  clientSecret: 'secret',
  redirectUris: ['https://partner.test/callback'],
  scopes: ['openid', 'email', 'profile'],
};
const user = { email: 'a@example.test', password: 'p', sub: 's', name: 'A' };

function fileOf(content: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'course-exchange-contract-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'given.json'), JSON.stringify(content));
  return join(folder, 'given.json');
}

const deployment = (environment: Record<string, string>) => deploymentOf(readContractSettings(environment));

test('a seed with the issuer is a deployment, with what a seed may leave out', () => {
  const file = fileOf({ partners: [partner], users: [user] });
  expect(deployment({ CONTRACT_SEED: file, CONTRACT_ISSUER: issuer })).toMatchObject({
    issuer,
    partners: [{ ...partner, active: true }],
    users: [{ ...user, about: '', emailVerified: true, disabled: false }],
  });
});

test('a stack file keeps its stores; CONTRACT_ISSUER stands above its issuer', () => {
  const file = fileOf({ issuer: 'https://old.test', partners: [partner], users: [user], redis: 'redis://r' });
  expect(deployment({ CONTRACT_STACK: file })).toMatchObject({
    issuer: 'https://old.test',
    redis: 'redis://r',
  });
  expect(deployment({ CONTRACT_STACK: file, CONTRACT_ISSUER: issuer })).toMatchObject({ issuer });
});

test('the demo data stand beside a seed', () => {
  const CONTRACT_SEED = fileOf({ partners: [partner] });
  const { partners } = deployment({ CONTRACT_SEED, CONTRACT_DEMO: 'true', CONTRACT_ISSUER: issuer });
  expect(partners.map(({ clientId }) => clientId)).toEqual(
    expect.arrayContaining(['a-partner', 'paddock-planner']),
  );
});

test.each([
  ['nothing', {}, /CONTRACT_STACK is missing: expected it, or CONTRACT_SEED or CONTRACT_DEMO/],
  ['no issuer', { CONTRACT_DEMO: 'true' }, /CONTRACT_ISSUER is missing/],
  ['two sources', { CONTRACT_DEMO: 'true', CONTRACT_STACK: '/x' }, /expected one source of partners/],
  ['no file', { CONTRACT_STACK: '/nowhere.json' }, /nowhere\.json cannot be loaded: ENOENT/],
])('%s is refused with a sentence', (_, environment, sentence) => {
  expect(() => deployment(environment)).toThrow(sentence);
});

test.each([
  ['no issuer', { partners: [partner], users: [user] }, /names no issuer: add it, or set CONTRACT_ISSUER/],
  ['a bad partner', { issuer, partners: [{ ...partner, scopes: [] }] }, /at partners\[0\]\.scopes/],
  ['no user', { issuer, partners: [partner] }, /names no user who can log in/],
  [
    'a partner with too few scopes',
    { issuer, partners: [{ ...partner, scopes: ['openid'] }], users: [user] },
    /no active partner with the scopes openid email profile/,
  ],
])('a stack file with %s is refused with a sentence', (_, content, sentence) => {
  expect(() => deployment({ CONTRACT_STACK: fileOf(content) })).toThrow(sentence);
});
