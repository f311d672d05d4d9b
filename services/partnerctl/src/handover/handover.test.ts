import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { armor, Decrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import { decrypt, generateKey, readMessage, readPrivateKey } from 'openpgp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Call } from '../frame/call.ts';
import { openHandover } from './handover.ts';

const secret = 'a-secret-of-43-characters-that-nobody-knows';
const made = { secretId: 's_1', plainSecret: secret };
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'partnerctl-handover-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Of a call, what a handover looks at. */
function callFrom(options: { readonly watched?: boolean; readonly json?: boolean } = {}): Call {
  const terminal = { watched: options.watched ?? false, paint: (_: string, words: string) => words };
  return { terminal, json: options.json ?? false, dryRun: false, directory } as unknown as Call;
}

const none = { toFile: undefined, encryptTo: undefined };

test('a person sees the secret once; a pipe gets it only under --json', async () => {
  const handed = await (await openHandover(none, callFrom({ watched: true }))).deliver(made);
  expect(handed.text).toContain(secret);
  await expect(openHandover(none, callFrom())).rejects.toThrow('into a pipe');
  await expect(openHandover(none, callFrom({ json: true }))).resolves.toBeDefined();
});

test('a file has mode 0600, is never written over, and is gone when no secret was made', async () => {
  const path = join(directory, 'one.secret');
  const options = { toFile: 'one.secret', encryptTo: undefined };
  const abandoned = await openHandover(options, callFrom());
  abandoned.abandon();
  const handed = await (await openHandover(options, callFrom())).deliver(made);
  expect(readFileSync(path, 'utf8')).toBe(`${secret}\n`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(JSON.stringify(handed)).not.toContain(secret);
  await expect(openHandover(options, callFrom())).rejects.toThrow('exists already');
});

test('only the holder of the age identity opens it', async () => {
  const identity = await generateIdentity();
  const encryptTo = await identityToRecipient(identity);
  const handed = await (await openHandover({ toFile: undefined, encryptTo }, callFrom())).deliver(made);
  expect(handed.text).not.toContain(secret);
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  expect(await decrypter.decrypt(armor.decode(handed.plain.secret ?? ''), 'text')).toBe(secret);
});

test('only the holder of the OpenPGP key opens it, from a file that is encrypted too', async () => {
  const { publicKey, privateKey } = await generateKey({ userIDs: [{ name: 'Acme' }], format: 'armored' });
  writeFileSync(join(directory, 'acme.asc'), publicKey);
  const options = { toFile: 'acme.secret.asc', encryptTo: 'acme.asc' };
  await (await openHandover(options, callFrom())).deliver(made);
  const armoredMessage = readFileSync(join(directory, 'acme.secret.asc'), 'utf8');
  expect(armoredMessage).not.toContain(secret);
  const message = await readMessage({ armoredMessage });
  const decryptionKeys = await readPrivateKey({ armoredKey: privateKey });
  expect((await decrypt({ message, decryptionKeys })).data).toBe(secret);
  writeFileSync(join(directory, 'private.asc'), privateKey);
  await expect(openHandover({ ...options, encryptTo: 'private.asc' }, callFrom())).rejects.toThrow(
    'private key',
  );
});

test.each(['age1nonsense', 'missing.asc', 'package.json'])(
  '"%s" is no key to encrypt to',
  async (encryptTo) => {
    writeFileSync(join(directory, 'package.json'), '{}');
    await expect(openHandover({ toFile: undefined, encryptTo }, callFrom())).rejects.toMatchObject({
      exit: 'usage',
    });
  },
);

test('a secret that could not leave is named, so that it can be retired', async () => {
  const handover = await openHandover({ toFile: 'late.secret', encryptTo: undefined }, callFrom());
  handover.abandon();
  await expect(handover.deliver(made)).rejects.toMatchObject({
    message: 'Secret s_1 was made but not handed over: retire it.',
    exit: 'refused',
  });
});
