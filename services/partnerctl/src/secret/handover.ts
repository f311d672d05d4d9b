// Hands over a new secret: shown once, written to a file of mode 0600, or encrypted by age
// (https://age-encryption.org) or OpenPGP (RFC 9580). The destination is opened before the secret is created, so that
// none is lost.
import { closeSync, fchmodSync, fsyncSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import type { CommandContext } from '../cli/command.ts';
import { readTextFile } from '../files/named-files.ts';
import { CliError, usageError } from '../output/errors.ts';
import { type ChangeResponse, changeResult, type Result } from '../output/result.ts';
import { paint, sanitize } from '../output/terminal.ts';

export const toFileOption = new Option(
  '--to-file <file>',
  'Write the secret to this new file, mode 0600, instead of showing it; - with --encrypt-to: to standard output, alone',
);
export const encryptToOption = new Option(
  '--encrypt-to <key>',
  'Encrypt it to the partner: an age recipient, or a file with one or with an OpenPGP public key; - reads standard input',
);

interface HandoverOptions {
  readonly toFile?: string;
  readonly encryptTo?: string;
}

interface NewSecret {
  readonly secretId: string;
  readonly plainSecret: string;
}

/** `create` runs once the destination is open. No secret is requested without `options`. */
export async function withHandover<R extends ChangeResponse & { readonly secret?: NewSecret | undefined }>(
  context: CommandContext,
  options: HandoverOptions | undefined,
  create: () => Promise<R>,
  textOf: (response: R) => string = () => '',
): Promise<Result> {
  const handover = options && (await openHandover(context, options));
  const response = await create().catch((error) => {
    handover?.cancel();
    throw error;
  });
  const { secret } = response;
  const result = changeResult(context, response, textOf(response), { secret: null });
  if (!handover || !secret) return result;
  const { json, text, textToStderr } = await handover.deliver(secret);
  return {
    json: { ...Object(result.json), secret: { secretId: secret.secretId, ...json } },
    text: `${result.text}\n${text}`,
    textToStderr,
  };
}

export async function openHandover(context: CommandContext, { toFile, encryptTo }: HandoverOptions) {
  const { terminal, json, dryRun, directory } = context;
  const encryption = encryptTo === undefined ? undefined : await encryptionTo(context, encryptTo);
  const alone = toFile === '-';
  if (alone && !encryption)
    throw usageError('--to-file - writes the secret into a pipe or a log.', 'Add --encrypt-to.');
  if (alone && json) throw usageError('With --json the answer carries the secret: omit --to-file.');
  if (toFile === undefined && !encryption && !terminal.out.isTty && !json && !dryRun)
    throw usageError(
      'The secret would go into a pipe or a log.',
      'Use --to-file or --encrypt-to, or --json if a program is to read it.',
    );
  const file = toFile === undefined || alone || dryRun ? undefined : createFile(resolve(directory, toFile));
  return {
    cancel: (): void => {
      if (file === undefined) return;
      closeSync(file.descriptor);
      unlinkSync(file.path);
    },
    deliver: ({ secretId, plainSecret }: NewSecret) =>
      deliver(context, { encryption, file, alone }, plainSecret).catch((cause) => {
        const sentence = `Secret ${secretId} was created but not handed over: retire it.`;
        throw new CliError('refused', sentence, { code: 'not_handed_over', cause });
      }),
  };
}

/** Never overwrites a file: it may hold another secret. */
function createFile(path: string) {
  try {
    const descriptor = openSync(path, 'wx', 0o600);
    fchmodSync(descriptor, 0o600);
    return { path, descriptor };
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw usageError(
      exists ? `${path} already exists.` : `${path} cannot be written.`,
      'Name a new file in a directory of your own.',
    );
  }
}

interface Destination {
  readonly encryption: Encryption | undefined;
  readonly file: ReturnType<typeof createFile> | undefined;
  /** Standard output holds nothing but the secret. */
  readonly alone: boolean;
}

async function deliver({ terminal: { out } }: CommandContext, destination: Destination, secret: string) {
  const { encryption, file, alone } = destination;
  const content = encryption ? await encryption.encrypt(secret) : secret;
  const line = content.endsWith('\n') ? content : `${content}\n`;
  const json = {
    delivery: encryption ? 'encrypted' : file ? 'file' : 'shown',
    file: file?.path ?? null,
    secret: file || alone ? null : content,
  };
  const kept = (where: string) =>
    `The secret is ${where}${encryption ? `, encrypted to ${encryption.recipient}` : ''}. It is stored nowhere else.\n`;
  if (file) {
    writeFileSync(file.descriptor, line);
    fsyncSync(file.descriptor);
    closeSync(file.descriptor);
    return { json, text: kept(`in ${sanitize(file.path)} (mode 0600)`), textToStderr: false };
  }
  if (alone) {
    out.write(line);
    return { json, text: kept('on standard output'), textToStderr: true };
  }
  const text = encryption
    ? `Encrypted to ${encryption.recipient}; only the partner can open it:\n\n${line}`
    : `${paint('bold', secret)}\n\nThis secret is shown once and stored nowhere: hand it over through a secure channel now.\n`;
  return { json, text, textToStderr: false };
}

interface Encryption {
  readonly recipient: string;
  readonly encrypt: (secret: string) => Promise<string>;
}

/** `to`: age recipients, or a file of them, one per line, or of an armoured OpenPGP public key. */
async function encryptionTo(context: CommandContext, to: string): Promise<Encryption> {
  const read = to.startsWith('age1') ? Promise.resolve(to) : readTextFile(context, to);
  const key = await read.catch(() => {
    throw usageError(`--encrypt-to: '${to}' is neither an age recipient nor a readable file.`);
  });
  if (key.includes('-----BEGIN PGP PRIVATE KEY BLOCK-----') || /^AGE-SECRET-KEY-/m.test(key)) {
    throw usageError(
      'That is a private key.',
      'Ask the partner for the public one, and tell them that this one is compromised.',
    );
  }
  if (key.includes('-----BEGIN PGP PUBLIC KEY BLOCK-----')) return openPgp(key);
  const lines = key.split('\n').map((line) => line.trim());
  const recipients = lines.filter((line) => line && !line.startsWith('#'));
  if (recipients.length > 0 && recipients.every((line) => line.startsWith('age1'))) return age(recipients);
  throw usageError(
    'The key to encrypt to is neither an age recipient nor an OpenPGP public key.',
    'Give age1…, or a file with age1… or with -----BEGIN PGP PUBLIC KEY BLOCK-----.',
  );
}

// Loaded only to encrypt: both libraries add a third to a command's start.
async function age(recipients: readonly string[]): Promise<Encryption> {
  const { armor, Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  try {
    for (const recipient of recipients) encrypter.addRecipient(recipient);
  } catch {
    throw usageError('The age recipient is malformed.', 'Copy all of it from the partner.');
  }
  return {
    recipient: `age ${recipients.map((recipient) => `…${recipient.slice(-8)}`).join(', ')}`,
    encrypt: async (secret) => armor.encode(await encrypter.encrypt(secret)),
  };
}

async function openPgp(armoredKey: string): Promise<Encryption> {
  const { createMessage, encrypt, readKey } = await import('openpgp');
  const encryptionKeys = await readKey({ armoredKey }).catch(() => {
    throw usageError('The OpenPGP public key cannot be read.', 'Export it again: gpg --armor --export.');
  });
  await encryptionKeys.getEncryptionKey().catch(() => {
    throw usageError(
      'The OpenPGP key has no valid key to encrypt to: it has expired, is revoked or only signs.',
    );
  });
  return {
    recipient: `OpenPGP ${encryptionKeys.getFingerprint().toUpperCase()}`,
    encrypt: async (secret) => {
      const message = await createMessage({ text: secret });
      return String(await encrypt({ message, encryptionKeys, format: 'armored' }));
    },
  };
}
