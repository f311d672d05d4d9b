// Encrypts a secret to the partner's public key, so that it can travel by mail: age (https://age-encryption.org)
// or OpenPGP (RFC 9580).
import { armor, Encrypter } from 'age-encryption';
import { createMessage, encrypt, readKey } from 'openpgp';
import { usageProblem } from '../frame/problem.ts';

export interface Encryption {
  /** For people: `age` or `OpenPGP`, and the key's end or fingerprint. */
  readonly said: string;
  /** Armoured text that only the partner opens. */
  readonly encrypt: (secret: string) => Promise<string>;
}

/** `key` is an age recipient (`age1…`), or the content of a file with one or with an armoured OpenPGP public key. */
export async function encryptionTo(key: string): Promise<Encryption> {
  const recipients = key
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith('#'));
  if (key.includes('-----BEGIN PGP PRIVATE KEY BLOCK-----') || /^AGE-SECRET-KEY-/m.test(key)) {
    throw usageProblem(
      'That is a private key.',
      'Ask the partner for the public one, and tell them that this one is known now.',
    );
  }
  if (key.includes('-----BEGIN PGP PUBLIC KEY BLOCK-----')) return openPgp(key);
  if (recipients.length > 0 && recipients.every((line) => line.startsWith('age1'))) return age(recipients);
  throw usageProblem(
    'The key to encrypt to is neither an age recipient nor an OpenPGP public key.',
    'Give age1…, or a file with age1… or with -----BEGIN PGP PUBLIC KEY BLOCK-----.',
  );
}

function age(recipients: readonly string[]): Encryption {
  const encrypter = new Encrypter();
  try {
    for (const recipient of recipients) encrypter.addRecipient(recipient);
  } catch {
    throw usageProblem('The age recipient has a mistake in it.', 'Copy it whole from the partner.');
  }
  return {
    said: `age ${recipients.map((recipient) => `…${recipient.slice(-8)}`).join(', ')}`,
    encrypt: async (secret) => armor.encode(await encrypter.encrypt(secret)),
  };
}

async function openPgp(armoredKey: string): Promise<Encryption> {
  const encryptionKeys = await readKey({ armoredKey }).catch(() => {
    throw usageProblem('The OpenPGP public key cannot be read.', 'Export it anew: gpg --armor --export.');
  });
  await encryptionKeys.getEncryptionKey().catch(() => {
    throw usageProblem(
      'The OpenPGP key has no valid key to encrypt to: it is expired, revoked or only signs.',
    );
  });
  return {
    said: `OpenPGP ${encryptionKeys.getFingerprint().toUpperCase()}`,
    encrypt: async (secret) => {
      const message = await createMessage({ text: secret });
      return String(await encrypt({ message, encryptionKeys, format: 'armored' }));
    },
  };
}
