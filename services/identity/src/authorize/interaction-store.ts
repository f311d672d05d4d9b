// The browser holds the interaction until somebody has logged in, encrypted (JWE, RFC 7516), in the form of the login
// page, and no store does (R6.10). From then on Redis holds it; each change is a compare-and-set on the whole
// text.
//
//   interaction:{all}:<id>              the record
//   interaction:{all}:undecided:<sub>   bounds one account (R6.11): its undecided interactions, each with its session
//   interaction:{all}:decided:<sub>     and its decided ones
//
// One Cluster slot holds them all: a script lists an interaction for its user, and a form brings only the id.
import { hkdfSync } from 'node:crypto';
import { unavailable } from '@course-exchange/runtime/process/errors';
import { CompactEncrypt, compactDecrypt } from 'jose';
import type { KeyEncryptionKey } from '../keys/private-key.ts';
import type { RedisStore } from '../redis/connect.ts';
import { runScript, script } from '../redis/script.ts';
import { type Event, type Interaction, interactionValidMs, repeatWindowMs, step } from './interaction.ts';
import { readInteraction, writeInteraction } from './interaction-text.ts';

/** `raw`: from Redis, for compare-and-set. `sealed`: from the browser. */
export type StoredInteraction =
  | { readonly kind: 'stored'; readonly interaction: Interaction; readonly raw: string }
  | { readonly kind: 'sealed'; readonly interaction: Interaction; readonly sealed: string };

/** A browser session's and a user's; the latter also bounds decided ones. */
const [mostOfSession, mostOfUser] = [16, 64];

const idPattern = /^[A-Za-z0-9_-]{22}$/;

const prefix = 'interaction:{all}:';

/** Replaces an evicted decided record whose seal is still out. No interaction is read from it. */
const spent = 'spent';

/** The id, then half of the session's hash while undecided. `+`: decided, with its seal still out. */
function listingOf(interaction: Interaction): { readonly list: string; readonly member: string } {
  const { id, holder, decision, wasSealed } = interaction;
  if (holder === undefined) throw new Error('an interaction without a login is not stored');
  if (decision) return { list: `${prefix}decided:${holder.sub}`, member: `${id}${wasSealed ? '+' : ':'}` };
  const session = holder.session?.slice(0, 22) ?? '';
  return { list: `${prefix}undecided:${holder.sub}`, member: `${id}:${session}` };
}

// KEYS: record, list left, list joined. ARGV: text before ('' for none), text after, members in both lists, now, end
// of life.
const keep = script(`
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
local now, keptUntil = tonumber(ARGV[5]), tonumber(ARGV[6])
redis.call('SET', KEYS[1], ARGV[2], 'PX', math.max(1, keptUntil - now))
redis.call('ZREM', KEYS[2], ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
local others = redis.call('ZRANGE', KEYS[3], 0, -1)
local session, ofSession = string.sub(ARGV[4], 24), {}
for _, other in ipairs(others) do
  if session ~= '' and string.sub(other, 24) == session then ofSession[#ofSession + 1] = other end
end
local oldest = #ofSession >= ${mostOfSession} and ofSession[1] or #others >= ${mostOfUser} and others[1]
if oldest then
  redis.call('ZREM', KEYS[3], oldest)
  local key = '${prefix}' .. string.sub(oldest, 1, 22)
  if string.sub(oldest, 23, 23) == '+' then redis.call('SET', key, '${spent}', 'XX', 'KEEPTTL')
  else redis.call('DEL', key) end
end
redis.call('ZADD', KEYS[3], keptUntil, ARGV[4])
redis.call('PEXPIRE', KEYS[3], ${interactionValidMs})
return 1`);

/** Undefined, without a write, unless the text is still `before`. Evicts the holder's oldest. Atomic. */
async function keepInteraction(
  store: RedisStore,
  operation: string,
  before: { readonly interaction: Interaction; readonly raw: string },
  next: Interaction,
  now: number,
): Promise<StoredInteraction | undefined> {
  const raw = writeInteraction(next, 'base64url');
  const [left, joined] = [listingOf(before.interaction), listingOf(next)];
  const keys = [`${prefix}${next.id}`, left.list, joined.list] as const;
  const repeatableUntil = next.decision ? next.decision.at + repeatWindowMs : 0;
  const keptUntil = Math.max(next.createdAt + interactionValidMs, repeatableUntil);
  const values = [before.raw, raw, left.member, joined.member, now, keptUntil];
  const kept = await runScript(store, operation, keep, keys, values);
  return kept === 1 ? { kind: 'stored', interaction: next, raw } : undefined;
}

/** Evicts the oldest of the session or user (R6.11). Undefined when the id is taken. Atomic. */
export function createInteraction(
  store: RedisStore,
  interaction: Interaction,
  now: number,
): Promise<StoredInteraction | undefined> {
  return keepInteraction(store, 'create interaction', { interaction, raw: '' }, interaction, now);
}

/** `closed`: it was evicted, or is another version's; its seal does not begin it again. */
export async function findInteraction(
  store: RedisStore,
  id: string,
): Promise<StoredInteraction | 'closed' | undefined> {
  if (!idPattern.test(id)) return undefined;
  const key = `${prefix}${id}`;
  const raw = await store.run('find interaction', key, (redis) => redis.get(key));
  if (raw === null) return undefined;
  const interaction = readInteraction(raw, 'base64url');
  return interaction ? { kind: 'stored', interaction, raw } : 'closed';
}

/**
 * Evicts like `createInteraction`. Undefined, without a write, when it changed, is gone, or came sealed and is stored.
 * Atomic.
 */
export async function replaceInteraction(
  store: RedisStore,
  stored: StoredInteraction,
  next: Interaction,
  now: number,
): Promise<StoredInteraction | undefined> {
  return stored.kind === 'stored'
    ? keepInteraction(store, 'replace interaction', stored, next, now)
    : createInteraction(store, next, now);
}

const attempts = 8;

/**
 * Takes the interaction as it is stored to its next state. `isOurs`: this call did it, no other form. `stored`: what is stored
 * now, perhaps decided by another form; undefined when it is gone. Throws `temporarily_unavailable`.
 */
export async function transition(
  store: RedisStore,
  stored: StoredInteraction,
  event: Event,
  now: number,
): Promise<{ readonly stored: StoredInteraction | undefined; readonly isOurs: boolean }> {
  let current = stored;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (current.interaction.decision) return { stored: current, isOurs: false };
    const replaced = await replaceInteraction(store, current, step(current.interaction, event), now);
    if (replaced) return { stored: replaced, isOurs: true };
    const found = await findInteraction(store, stored.interaction.id);
    if (found === undefined || found === 'closed') return { stored: undefined, isOurs: false };
    current = found;
  }
  throw unavailable('a contended interaction');
}

export interface InteractionSeal {
  readonly seal: (interaction: Interaction) => Promise<string>;
  /** Undefined when this installation did not seal it, or another version in another form. Ignores its age. */
  readonly open: (sealed: string) => Promise<Interaction | undefined>;
}

/** Opens with each key. The sealing key is derived, so both rotate together. */
export function createInteractionSeal(encryptionKeys: readonly KeyEncryptionKey[]): InteractionSeal {
  const keys = encryptionKeys.map(
    (key) => new Uint8Array(hkdfSync('sha256', key.reveal(), '', 'sealed interaction', 32)),
  );
  const [newest = new Uint8Array()] = keys;
  return {
    seal: (interaction) =>
      new CompactEncrypt(Buffer.from(writeInteraction(interaction, 'utf8')))
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

async function openWith(key: Uint8Array, sealed: string): Promise<Interaction | undefined> {
  const algorithms = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] };
  const opened = await compactDecrypt(sealed, key, algorithms).catch(() => undefined);
  return opened && readInteraction(Buffer.from(opened.plaintext).toString(), 'utf8');
}
