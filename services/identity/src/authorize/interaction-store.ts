// Where an interaction is kept. Until somebody has logged in, the browser has it, sealed, in the form of the login page,
// and no store does (R6.10): a JWE (RFC 7516), which nobody else can read, make or change. From then on Redis has it, as
// JSON under `interaction:<id>`; every change is a compare-and-set on the whole text, so that two tabs or a double click
// never overwrite one another.
import { hkdfSync } from 'node:crypto';
import { unavailable } from '@course-exchange/runtime/process/errors';
import { CompactEncrypt, compactDecrypt } from 'jose';
import type { KeyEncryptionKey } from '../keys/private-key.ts';
import type { RedisStore } from '../redis/connect.ts';
import { runScript, script } from '../redis/script.ts';
import { type Interaction, interactionKeptMs } from './interaction.ts';

/** An interaction as Redis has it, `raw`, which a change must still find; or `sealed`, as the browser brought it. */
export type StoredInteraction =
  | { readonly interaction: Interaction; readonly raw: string; readonly sealed?: undefined }
  | { readonly interaction: Interaction; readonly sealed: string };

/** 16 bytes as base64url; anything else names no interaction and is not looked up. */
const idPattern = /^[A-Za-z0-9_-]{22}$/;

function keyOf(id: string): string {
  return `interaction:${id}`;
}

/** Keeps a new interaction for its validity and an hour more (R6). False when there is one of its id: nothing changed. */
export async function createInteraction(store: RedisStore, interaction: Interaction): Promise<boolean> {
  const raw = JSON.stringify(interaction);
  const key = keyOf(interaction.id);
  const created = await store.run('create interaction', key, (redis) =>
    redis.set(key, raw, 'PX', interactionKeptMs, 'NX'),
  );
  return created === 'OK';
}

/** The interaction named `id`, decided and expired ones too; undefined when none is kept. */
export async function findInteraction(store: RedisStore, id: string): Promise<StoredInteraction | undefined> {
  if (!idPattern.test(id)) return undefined;
  const key = keyOf(id);
  const raw = await store.run('find interaction', key, (redis) => redis.get(key));
  // The parsing edge of this key: only this file writes it.
  return raw === null ? undefined : { interaction: JSON.parse(raw) as Interaction, raw };
}

const replace = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1`);

/**
 * Writes `next` in place of `stored`; its time to live runs on. Undefined when the interaction has changed since it was
 * read or is gone, or, where it came sealed, is stored already: then nothing was written. Atomic.
 */
export async function replaceInteraction(
  store: RedisStore,
  stored: StoredInteraction,
  next: Interaction,
): Promise<StoredInteraction | undefined> {
  const raw = JSON.stringify(next);
  if (stored.sealed !== undefined)
    return (await createInteraction(store, next)) ? { interaction: next, raw } : undefined;
  const values = [stored.raw, raw];
  const replaced = await runScript(store, 'replace interaction', replace, [keyOf(next.id)], values);
  return replaced === 1 ? { interaction: next, raw } : undefined;
}

/** Lost compare-and-sets after which a change gives up; an interaction changes a handful of times in all. */
const attempts = 8;

/**
 * Changes an undecided interaction by `change`; when another change came first, `change` sees its result.
 * Returns the interaction as it is afterwards: with `change` applied, or decided by somebody else.
 * Undefined when it is gone. `change` may run several times and has no side effects.
 */
export async function changeUndecided(
  store: RedisStore,
  stored: StoredInteraction,
  change: (interaction: Interaction) => Interaction,
): Promise<StoredInteraction | undefined> {
  let current: StoredInteraction | undefined = stored;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (current === undefined || current.interaction.decision) return current;
    const replaced = await replaceInteraction(store, current, change(current.interaction));
    if (replaced) return replaced;
    current = await findInteraction(store, stored.interaction.id);
  }
  throw unavailable('a contended interaction');
}

export interface InteractionSeal {
  /** Base64url with dots: fit for a hidden field. */
  readonly seal: (interaction: Interaction) => Promise<string>;
  /** Undefined when this installation did not seal it. Its age is not judged here. */
  readonly open: (sealed: string) => Promise<Interaction | undefined>;
}

/** Seals with the first of `encryptionKeys`, opens with each. The key is derived, so that both follow one rotation. */
export function createInteractionSeal(encryptionKeys: readonly KeyEncryptionKey[]): InteractionSeal {
  const keys = encryptionKeys.map((key) => sealKeyOf(key.reveal()));
  const [newest = new Uint8Array()] = keys;
  return {
    seal: (interaction) =>
      new CompactEncrypt(Buffer.from(JSON.stringify(interaction)))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .encrypt(newest),
    open: async (sealed) => {
      for (const key of keys) {
        const interaction = await openWith(key, sealed);
        if (interaction) return interaction;
      }
      return undefined;
    },
  };
}

function sealKeyOf(key: Buffer): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, '', 'sealed interaction', 32));
}

async function openWith(key: Uint8Array, sealed: string): Promise<Interaction | undefined> {
  const algorithms = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] };
  const opened = await compactDecrypt(sealed, key, algorithms).catch(() => undefined);
  // The parsing edge of the seal: only `seal` writes it.
  return opened && (JSON.parse(Buffer.from(opened.plaintext).toString()) as Interaction);
}
