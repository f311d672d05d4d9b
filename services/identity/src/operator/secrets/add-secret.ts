// A new secret beside the ones that a client has: both open until the old one is retired.

import { createHash } from 'node:crypto';
import type { Queries } from '@course-exchange/runtime/postgres';
import { mostValidSecrets, opens } from '../../domain/client-secret.ts';
import type { ClientId } from '../../domain/ids.ts';
import { newSecret } from '../../domain/secrets.ts';
import { insertSecret, readSecrets } from '../../store/postgres/issued-secrets.ts';
import { readClient } from '../../store/postgres/registered-clients.ts';
import {
  carryOut,
  type Desk,
  type Note,
  notFound,
  type Order,
  type Outcome,
  refused,
  requireNoMistake,
} from '../desk.ts';

/** Leaves the process once, in an operator's answer. */
export interface PlainSecret {
  readonly secretId: string;
  /** Undefined in a dry run. */
  readonly plain: string | undefined;
  /** Milliseconds since the epoch; null: never. */
  readonly expiresAt: number | null;
}

const shortest = 60 * 1000;
const longest = 10 * 366 * 24 * 60 * 60 * 1000;

/** `expiresIn` in milliseconds; null: the secret does not expire. */
export function expiryMistakes(expiresIn: number | null): string[] {
  const valid = expiresIn === null || (expiresIn >= shortest && expiresIn <= longest);
  return valid ? [] : ['A secret lasts from one minute to ten years.'];
}

/** Throws `invalid_argument`, `not_found`, `refused` (too many are valid). Atomic. */
export async function addSecret(
  desk: Desk,
  order: Order,
  { clientId, expiresIn }: { readonly clientId: string; readonly expiresIn: number | null },
): Promise<Outcome<PlainSecret>> {
  requireNoMistake(expiryMistakes(expiresIn));
  return carryOut(desk, order, async (queries, note) => {
    const client = await readClient(queries, desk.environment, clientId, 'lock');
    if (client === undefined) throw notFound(`client ${clientId}`);
    const secret = await issueSecret(desk, queries, note, client.dossier.clientId, expiresIn);
    return order.dryRun ? { ...secret, plain: undefined } : secret;
  });
}

/** The client's row is locked, or new. Throws `refused`. */
export async function issueSecret(
  desk: Desk,
  queries: Queries,
  note: Note,
  clientId: ClientId,
  expiresIn: number | null,
): Promise<PlainSecret> {
  const now = desk.now();
  const valid = (await readSecrets(queries, [clientId])).filter((secret) => opens(secret, now));
  if (valid.length >= mostValidSecrets)
    throw refused(`Client ${clientId} has ${valid.length} valid secrets; retire one first.`);
  const plain = newSecret(desk.randomBytes);
  const expiresAt = expiresIn === null ? null : now + expiresIn;
  const hash = createHash('sha256').update(plain).digest();
  const { secretId } = await insertSecret(queries, { clientId, hash, expiresAt });
  const after = expiresAt === null ? 'never' : new Date(expiresAt).toISOString();
  note({
    ...{ action: 'secret.add', object: `secret:${secretId}`, clientId },
    fields: [{ field: 'expires_at', after: JSON.stringify(after) }],
  });
  return { secretId, plain, expiresAt };
}
