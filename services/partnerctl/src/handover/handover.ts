// How a new secret leaves: shown once to a person, into a file of mode 0600, or encrypted to the partner. The way is
// opened before the secret is made, so that none is made and then lost.
import { closeSync, fchmodSync, fsyncSync, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import type { Call } from '../frame/call.ts';
import { file, type OptionValues, text } from '../frame/options.ts';
import { Problem, usageProblem } from '../frame/problem.ts';
import { type Encryption, encryptionTo } from './encryption.ts';

export const handoverOptions = {
  toFile: file(
    'Write the secret into this new file, mode 0600, instead of showing it; - with --encrypt-to: it alone to standard output',
  ),
  encryptTo: text(
    '<key>',
    'Encrypt it to the partner: an age recipient, or a file with one or an OpenPGP public key; - reads standard input',
  ),
};

export interface Handed {
  /** What --json carries. */
  readonly plain: {
    readonly way: 'shown' | 'file' | 'encrypted';
    readonly file: string | null;
    readonly secret: string | null;
  };
  readonly text: string;
  /** Standard output holds the secret alone: `text` belongs to standard error. */
  readonly aside?: true;
}

/** As the service answers with it, this once. */
interface NewSecret {
  readonly secretId: string;
  readonly plainSecret: string;
}

export interface Handover {
  /** Throws a Problem that names the secret when it was made and could not leave. */
  readonly deliver: (secret: NewSecret) => Promise<Handed>;
  /** Takes back what was opened: no secret was made. */
  readonly abandon: () => void;
}

interface Way {
  readonly deliver: (secret: string) => Promise<Handed>;
  /** Takes back what was opened: no secret was made. */
  readonly abandon: () => void;
}

/** Throws a Problem when the secret could not leave that way. */
export async function openHandover(
  options: OptionValues<typeof handoverOptions>,
  call: Call,
): Promise<Handover> {
  const { deliver, abandon } = await openWay(options, call);
  return {
    abandon,
    deliver: ({ secretId, plainSecret }) =>
      deliver(plainSecret).catch((cause) => {
        throw new Problem(`Secret ${secretId} was made but not handed over: retire it.`, {
          exit: 'refused',
          code: 'not_handed_over',
          cause,
        });
      }),
  };
}

async function openWay(
  { toFile, encryptTo }: OptionValues<typeof handoverOptions>,
  call: Call,
): Promise<Way> {
  const encryption = encryptTo === undefined ? undefined : await encryptionTo(await keyText(encryptTo, call));
  if (toFile === '-') return ontoOutput(encryption, call);
  if (toFile !== undefined)
    return call.dryRun ? nowhere : intoFile(resolve(call.directory, toFile), encryption);
  if (encryption) return { deliver: (secret) => shownEncrypted(secret, encryption), abandon: () => {} };
  if (!call.terminal.watched && !call.json && !call.dryRun) {
    throw usageProblem(
      'The secret would go into a pipe or a log.',
      'Say --to-file, --encrypt-to, or --json if a program is to read it.',
    );
  }
  return { deliver: async (secret) => shown(secret, call), abandon: () => {} };
}

const nowhere: Way = {
  deliver: async () => {
    throw new Problem('A dry run makes no secret.', { exit: 'refused' });
  },
  abandon: () => {},
};

/** The content of the file of that name, or the words themselves where they are a recipient. */
async function keyText(words: string, { directory, input }: Call): Promise<string> {
  if (words.startsWith('age1')) return words;
  if (words === '-') return readAll(input);
  try {
    return readFileSync(resolve(directory, words), 'utf8');
  } catch {
    throw usageProblem(`--encrypt-to: ${words} is no age recipient and no readable file.`);
  }
}

/** For a caller who redirects it into a file of his own, as over `kubectl exec`. */
function ontoOutput(encryption: Encryption | undefined, call: Call): Way {
  if (encryption === undefined)
    throw usageProblem('--to-file - puts the secret into a pipe or a log.', 'Add --encrypt-to.');
  if (call.json) throw usageProblem('Under --json the answer carries the secret: leave --to-file out.');
  if (call.dryRun) return nowhere;
  return {
    abandon: () => {},
    deliver: async (secret) => {
      const content = await encryption.encrypt(secret);
      call.terminal.out(content.endsWith('\n') ? content : `${content}\n`);
      return {
        plain: { way: 'encrypted', file: null, secret: null },
        text: `The secret is on standard output, encrypted to ${encryption.said}. It is stored nowhere else.\n`,
        aside: true,
      };
    },
  };
}

function intoFile(path: string, encryption: Encryption | undefined): Way {
  const descriptor = openNew(path);
  return {
    abandon: () => {
      closeSync(descriptor);
      unlinkSync(path);
    },
    deliver: async (secret) => {
      const content = encryption ? await encryption.encrypt(secret) : secret;
      writeFileSync(descriptor, content.endsWith('\n') ? content : `${content}\n`);
      fsyncSync(descriptor);
      closeSync(descriptor);
      const how = encryption ? `, encrypted to ${encryption.said}` : '';
      return {
        plain: { way: encryption ? 'encrypted' : 'file', file: path, secret: null },
        text: `The secret is in ${path} (mode 0600)${how}. It is stored nowhere else.\n`,
      };
    },
  };
}

/** Never writes over a file: it may hold another secret. */
function openNew(path: string): number {
  try {
    const descriptor = openSync(path, 'wx', 0o600);
    fchmodSync(descriptor, 0o600);
    return descriptor;
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw usageProblem(
      exists ? `${path} exists already.` : `${path} cannot be written.`,
      'Name a new file in a directory that is yours.',
    );
  }
}

async function shownEncrypted(secret: string, encryption: Encryption): Promise<Handed> {
  const content = await encryption.encrypt(secret);
  return {
    plain: { way: 'encrypted', file: null, secret: content },
    text: `Encrypted to ${encryption.said}; only the partner can open it:\n\n${content.trimEnd()}\n`,
  };
}

function shown(secret: string, { terminal }: Call): Handed {
  return {
    plain: { way: 'shown', file: null, secret },
    text: `${terminal.paint('bold', secret)}\n\nThis secret is shown once and stored nowhere: hand it over by a secure channel now.\n`,
  };
}
