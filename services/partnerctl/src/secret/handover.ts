// How a new secret leaves the tool: shown once to a person, written to a file of mode 0600, or encrypted to the
// partner by age (https://age-encryption.org) or OpenPGP (RFC 9580), so that it can travel by mail.
// The destination is opened before the secret is created, so that none is created and then lost.
import { closeSync, fchmodSync, fsyncSync, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { Option } from '@commander-js/extra-typings';
import type { CommandContext, Result } from '../cli/command.ts';
import { CliError, usageError } from '../cli/errors.ts';
import { paint } from '../cli/terminal.ts';
import { type ChangeResponse, changeResult } from '../output/result.ts';

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

/** As the service answers with it, this once. */
interface NewSecret {
  readonly secretId: string;
  readonly plainSecret: string;
}

/**
 * The result of a command that creates a secret: `create` calls the service once the destination is open, `textOf` adds
 * to what is said about the changes. Without `options` no secret is asked for.
 */
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

interface Destination {
  readonly encryption: Encryption | undefined;
  /** Undefined: the secret is shown, or nothing is created. */
  readonly file: { readonly path: string; readonly descriptor: number } | undefined;
  /** Standard output holds the secret alone. */
  readonly alone: boolean;
}

/** Throws a CliError when no secret could leave that way. */
export async function openHandover(context: CommandContext, options: HandoverOptions) {
  const destination = await openDestination(context, options);
  const { file } = destination;
  return {
    /** Removes what was opened: no secret was created. */
    cancel: (): void => {
      if (file === undefined) return;
      closeSync(file.descriptor);
      unlinkSync(file.path);
    },
    /** Throws a CliError that names the secret when it was created and could not leave. */
    deliver: ({ secretId, plainSecret }: NewSecret) =>
      deliver(context, destination, plainSecret).catch((cause) => {
        throw new CliError(`Secret ${secretId} was created but not handed over: retire it.`, {
          exit: 'refused',
          code: 'not_handed_over',
          cause,
        });
      }),
  };
}

async function openDestination(
  context: CommandContext,
  { toFile, encryptTo }: HandoverOptions,
): Promise<Destination> {
  const { terminal, json, dryRun, directory } = context;
  const key = encryptTo === undefined ? undefined : await readKey(context, encryptTo);
  const encryption = key === undefined ? undefined : await encryptionTo(key);
  if (toFile === '-') {
    if (encryption === undefined)
      throw usageError('--to-file - writes the secret into a pipe or a log.', 'Add --encrypt-to.');
    if (json) throw usageError('With --json the answer carries the secret: omit --to-file.');
    return { encryption, file: undefined, alone: true };
  }
  if (toFile !== undefined && !dryRun)
    return { encryption, file: createFile(resolve(directory, toFile)), alone: false };
  if (!encryption && !terminal.out.isTty && !json && !dryRun) {
    throw usageError(
      'The secret would go into a pipe or a log.',
      'Use --to-file or --encrypt-to, or --json if a program is to read it.',
    );
  }
  return { encryption, file: undefined, alone: false };
}

/** The recipient itself, or the content of the file of that name. */
async function readKey({ directory, input }: CommandContext, key: string): Promise<string> {
  if (key.startsWith('age1')) return key;
  if (key === '-') return readAll(input);
  try {
    return readFileSync(resolve(directory, key), 'utf8');
  } catch {
    throw usageError(`--encrypt-to: '${key}' is neither an age recipient nor a readable file.`);
  }
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

async function deliver({ terminal: { out } }: CommandContext, destination: Destination, secret: string) {
  const { encryption, file, alone } = destination;
  const content = encryption ? await encryption.encrypt(secret) : secret;
  const line = content.endsWith('\n') ? content : `${content}\n`;
  const json = {
    delivery: encryption ? 'encrypted' : file ? 'file' : 'shown',
    file: file?.path ?? null,
    secret: file || alone ? null : content,
  };
  const recipient = encryption ? `, encrypted to ${encryption.recipient}` : '';
  if (file) {
    writeFileSync(file.descriptor, line);
    fsyncSync(file.descriptor);
    closeSync(file.descriptor);
    const text = `The secret is in ${file.path} (mode 0600)${recipient}. It is stored nowhere else.\n`;
    return { json, text, textToStderr: false };
  }
  if (alone) {
    out.write(line);
    const text = `The secret is on standard output${recipient}. It is stored nowhere else.\n`;
    return { json, text, textToStderr: true };
  }
  const text = encryption
    ? `Encrypted to ${encryption.recipient}; only the partner can open it:\n\n${line}`
    : `${paint('bold', secret)}\n\nThis secret is shown once and stored nowhere: hand it over through a secure channel now.\n`;
  return { json, text, textToStderr: false };
}

interface Encryption {
  /** For people: `age` or `OpenPGP`, and the key's end or fingerprint. */
  readonly recipient: string;
  /** Armoured text that only the partner can open. */
  readonly encrypt: (secret: string) => Promise<string>;
}

/** `key` is an age recipient (`age1…`), or the content of a file with one or with an armoured OpenPGP public key. */
async function encryptionTo(key: string): Promise<Encryption> {
  const recipients = key
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith('#'));
  if (key.includes('-----BEGIN PGP PRIVATE KEY BLOCK-----') || /^AGE-SECRET-KEY-/m.test(key)) {
    throw usageError(
      'That is a private key.',
      'Ask the partner for the public one, and tell them that this one is compromised.',
    );
  }
  if (key.includes('-----BEGIN PGP PUBLIC KEY BLOCK-----')) return openPgp(key);
  if (recipients.length > 0 && recipients.every((line) => line.startsWith('age1'))) return age(recipients);
  throw usageError(
    'The key to encrypt to is neither an age recipient nor an OpenPGP public key.',
    'Give age1…, or a file with age1… or with -----BEGIN PGP PUBLIC KEY BLOCK-----.',
  );
}

// Both libraries are loaded where a secret is encrypted: that costs a third of the start of a command.
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
