// Ends a secret. Whether the old one may go is told by its last use: one that a partner still sends is kept,
// unless it must go because others know it.
import { opens, unusedAt } from '../../domain/client-secret.ts';
import { type IssuedSecret, readSecrets, retireIssuedSecret } from '../../store/postgres/issued-secrets.ts';
import { readClient } from '../../store/postgres/registered-clients.ts';
import { carryOut, type Desk, notFound, type Order, type Outcome, refused, refusedUntil } from '../desk.ts';

export interface Retirement {
  readonly clientId: string;
  readonly secretId: string;
  readonly evenIfInUse: boolean;
}

/** Throws `not_found`, `refused` (the last valid one, or the only one ever used), `refused_until` (used within a day). Atomic. */
export async function retireSecret(
  desk: Desk,
  order: Order,
  { clientId, secretId, evenIfInUse }: Retirement,
): Promise<Outcome<IssuedSecret>> {
  return carryOut(desk, order, async (queries, note) => {
    const client = await readClient(queries, desk.environment, clientId, 'lock');
    if (client === undefined) throw notFound(`client ${clientId}`);
    const secrets = await readSecrets(queries, [client.dossier.clientId]);
    const secret = secrets.find((one) => one.secretId === secretId);
    if (secret === undefined) throw notFound(`secret ${secretId} of client ${clientId}`);
    if (secret.retiredAt !== null) return secret;
    if (!evenIfInUse) requireUnused(secret, secrets, client.active, desk.now());
    const retired = await retireIssuedSecret(queries, secretId);
    const after = JSON.stringify(new Date(retired.retiredAt ?? 0).toISOString());
    note({
      ...{ action: 'secret.retire', object: `secret:${secretId}`, clientId },
      fields: [{ field: 'retired_at', after }],
    });
    return retired;
  });
}

function requireUnused(
  secret: IssuedSecret,
  secrets: readonly IssuedSecret[],
  active: boolean,
  now: number,
): void {
  if (!opens(secret, now)) return;
  const others = secrets.filter((one) => one !== secret && opens(one, now));
  if (active && others.length === 0)
    throw refused(
      `Secret ${secret.secretId} is the last valid one of client ${secret.clientId}; add one first.`,
    );
  const free = unusedAt(secret);
  if (free !== undefined && free > now)
    throw refusedUntil(
      `Secret ${secret.secretId} was used at ${new Date(secret.lastUsedAt ?? 0).toISOString()}; the partner may still send it.`,
      free,
    );
  // A partner that calls once a week is quiet for longer than a day.
  const known = secret.lastUsedAt !== null;
  if (active && known && others.every((one) => one.lastUsedAt === null))
    throw refused(`Client ${secret.clientId} has not used another secret yet: it still knows this one only.`);
}
