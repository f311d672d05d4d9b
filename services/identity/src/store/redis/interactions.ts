// Keys `interaction:<id>`: one transaction in a browser, as JSON. Every change is a compare-and-set on the
// whole text, so that two tabs or a double click never overwrite one another.
import type { RedisStore } from '@course-exchange/runtime/redis';
import { type Interaction, interactionKeptMs } from '../../domain/interaction.ts';
import { runScript, script } from './script.ts';

/** A transaction as it was read; `raw` is what a change must still find. */
export interface HeldInteraction {
  readonly interaction: Interaction;
  readonly raw: string;
}

/** 16 bytes as base64url; anything else names no transaction and is not looked up. */
const idPattern = /^[A-Za-z0-9_-]{22}$/;

function keyOf(id: string): string {
  return `interaction:${id}`;
}

/** Keeps a new transaction for its validity and an hour more (R6). */
export async function createInteraction(store: RedisStore, interaction: Interaction): Promise<void> {
  const raw = JSON.stringify(interaction);
  const key = keyOf(interaction.id);
  await store.run('create interaction', key, (redis) => redis.set(key, raw, 'PX', interactionKeptMs));
}

/** The transaction named `id`, decided and expired ones too; undefined when none is kept. */
export async function findInteraction(store: RedisStore, id: string): Promise<HeldInteraction | undefined> {
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
 * Writes `next` in the place of `held`; its time to live runs on. Undefined when the transaction has changed
 * since it was read or is gone: then nothing was written. Atomic.
 */
export async function replaceInteraction(
  store: RedisStore,
  held: HeldInteraction,
  next: Interaction,
): Promise<HeldInteraction | undefined> {
  const raw = JSON.stringify(next);
  const key = keyOf(next.id);
  const replaced = await store.run('replace interaction', key, (redis) =>
    runScript(redis, replace, [key], [held.raw, raw]),
  );
  return replaced === 1 ? { interaction: next, raw } : undefined;
}
