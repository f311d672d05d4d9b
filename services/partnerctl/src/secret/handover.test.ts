import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decrypt, generateKey, readMessage, readPrivateKey } from 'openpgp';
import { afterAll, expect, test } from 'vitest';
import type { CommandContext } from '../cli/command.ts';
import { openHandover } from './handover.ts';

const secret = 'a-secret-of-43-characters-that-nobody-knows';
const made = { secretId: 's_1', plainSecret: secret };
const directory = mkdtempSync(join(tmpdir(), 'partnerctl-handover-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** What a handover reads of a command's context. */
function contextOf(options: { readonly isTty?: boolean; readonly json?: boolean } = {}): CommandContext {
  const out = { isTty: options.isTty ?? false, paint: (_: string, text: string) => text };
  const { json = false } = options;
  return { terminal: { out }, json, dryRun: false, directory } as unknown as CommandContext;
}

const open = (options: Parameters<typeof openHandover>[1], context = contextOf()) =>
  openHandover(context, options);

test('a person sees the secret once; a pipe gets it only under --json', async () => {
  const handed = await (await open({}, contextOf({ isTty: true }))).deliver(made);
  expect(handed.text).toContain(secret);
  await expect(open({})).rejects.toThrow('into a pipe');
  await expect(open({}, contextOf({ json: true }))).resolves.toBeDefined();
});

test('a file has mode 0600, is never written over, and is gone when no secret was created', async () => {
  const path = join(directory, 'one\n.secret');
  const options = { toFile: 'one\n.secret' };
  const cancelled = await open(options);
  cancelled.cancel();
  const handed = await (await open(options)).deliver(made);
  expect(handed.text).toContain('/one�.secret (mode 0600)');
  expect(readFileSync(path, 'utf8')).toBe(`${secret}\n`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(JSON.stringify(handed)).not.toContain(secret);
  await expect(open(options)).rejects.toThrow('already exists');
});

test('only the holder of the OpenPGP key opens it, from a file that is encrypted too', async () => {
  const { publicKey, privateKey } = await generateKey({ userIDs: [{ name: 'Acme' }], format: 'armored' });
  writeFileSync(join(directory, 'acme.asc'), publicKey);
  const options = { toFile: 'acme.secret.asc', encryptTo: 'acme.asc' };
  await (await open(options)).deliver(made);
  const armoredMessage = readFileSync(join(directory, 'acme.secret.asc'), 'utf8');
  expect(armoredMessage).not.toContain(secret);
  const message = await readMessage({ armoredMessage });
  const decryptionKeys = await readPrivateKey({ armoredKey: privateKey });
  expect((await decrypt({ message, decryptionKeys })).data).toBe(secret);
  writeFileSync(join(directory, 'private.asc'), privateKey);
  await expect(open({ ...options, encryptTo: 'private.asc' })).rejects.toThrow('private key');
});

test.each(['age1nonsense', 'missing.asc', 'package.json'])(
  '"%s" is no key to encrypt to',
  async (encryptTo) => {
    writeFileSync(join(directory, 'package.json'), '{}');
    await expect(open({ encryptTo })).rejects.toMatchObject({ exit: 'usage' });
  },
);

test('a secret that could not leave is named, so that it can be retired', async () => {
  const handover = await open({ toFile: 'late.secret' });
  handover.cancel();
  await expect(handover.deliver(made)).rejects.toMatchObject({
    message: 'Secret s_1 was created but not handed over: retire it.',
    exit: 'refused',
  });
});
