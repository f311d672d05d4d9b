// restore/ keeps what had ended since a backup ended after its restore. Backups and restores themselves are the operator's
// (docs/recovery.md).

// The restore fence: what had ended since a backup stays ended after its restore (docs/recovery.md).
//
// - Redis alone: sessions, codes and refresh families of every user end, as by a sign-out (R13.5).
// - Postgres: also every consent is asked again, new keys sign, and what operators ended after the backup ends again. That
//   is known from the log lines `operator.change` (`audit-trail.ts`). All secrets are suspended and all earlier keys
//   leave the key set if the lines are missing, unless the operator accepts not to know.

import { type AuditHead, readAuditHead } from '@course-exchange/runtime/audit/table';
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import {
  type AdminAction,
  type AdminTransaction,
  auditedTransaction,
  type EndingAction,
  effectOf,
  fieldChanges,
  refused,
  restoringActions,
} from '../admin/context.ts';
import { writeActive } from '../clients/admin.ts';
import type { ChangeContext } from '../clients/change.ts';
import { readClient } from '../clients/client-table.ts';
import { retire as retireSecret } from '../clients/secret-admin.ts';
import { findSecret, type IssuedSecret, listValidSecrets, suspendSecrets } from '../clients/secret-table.ts';
import { activate, type KeyContext, publish, retire as retireKey } from '../keys/admin.ts';
import { listKeys, lockKeys } from '../keys/key-table.ts';
import { disableSub, type UserContext } from '../users/admin.ts';
import { everySub } from '../users/user-table.ts';
import { type AuditedTransaction, continuationOf, type Ending, endingsOf, isFinal } from './audit-trail.ts';
import { findEntries, listRestores, signOutEverybody, withdrawEveryConsent } from './fence-table.ts';

export type FenceContext = ChangeContext & KeyContext & UserContext;
type FenceTransaction = AdminTransaction<FenceContext>;

export interface Restore {
  readonly store: 'redis' | 'postgres';
  readonly trail: readonly AuditedTransaction[] | undefined;
  /** Without lines: leave secrets and superseded keys as in the backup. */
  readonly acceptUnknown: boolean;
}

export interface Fence {
  readonly usersSignedOut: number;
  readonly consentsWithdrawn: number;
  /** `secret.retire secret:<id>` */
  readonly endedAgain: readonly string[];
  /** Perhaps retired after the backup; suspended unless accepted. */
  readonly unknownSecrets: readonly IssuedSecret[];
  /** Keyed subs of disabled users that are not in the backup. */
  readonly unknownUsers: readonly string[];
  readonly continuation: Followed | undefined;
}

interface Followed {
  readonly restored: AuditHead;
  /** Its last entry that the lines name. */
  readonly named: number;
  /** That the restored log lacks, if any; from entry `root` + 1 on. */
  readonly last: { readonly root: number; readonly sequence: number; readonly at: number } | undefined;
  readonly provenEntries: number;
  /** Sequences of the lines that no entry proves. */
  readonly unproven: readonly number[];
}

/** Throws `refused` when `trail` does not continue the restored audit log. Atomic. */
export const putUpFence: AdminAction<Restore, Fence, FenceContext> = (
  context,
  request,
  { store, trail, acceptUnknown },
) => {
  return auditedTransaction(context, request, async (transaction) => {
    const { queries, now, recordChange } = transaction;
    const followed = store === 'postgres' && trail ? await readTrail(transaction, trail) : undefined;
    const unknown = store === 'postgres' && followed === undefined;
    const usersSignedOut = await signOutEverybody(queries, now());
    const consentsWithdrawn = store === 'postgres' ? await withdrawEveryConsent(queries) : 0;
    const fields = fieldChanges(
      {},
      { restored: store, users_signed_out: usersSignedOut, consents_withdrawn: consentsWithdrawn },
    );
    recordChange({ action: 'restore.fence', object: 'installation', fields });
    if (store === 'postgres') await replaceKeys(transaction, unknown && !acceptUnknown);
    const { endedAgain, unknownUsers } = await endAgain(transaction, followed?.endings ?? []);
    const closeSecrets = () => (acceptUnknown ? listValidSecrets(queries) : suspend(transaction, null));
    const unknownSecrets = unknown ? await closeSecrets() : [];
    const listed = { endedAgain, unknownSecrets, unknownUsers };
    return { usersSignedOut, consentsWithdrawn, ...listed, continuation: followed };
  });
};

/** The `lines` that the audit log lacks, and the last that it has. */
export async function withoutKnown(queries: Queries, lines: readonly AuditedTransaction[]) {
  const [hashes, sequences] = [lines.map(({ hash }) => hash), lines.map(({ sequence }) => sequence)];
  const found = await findEntries(queries, hashes, sequences);
  const known = new Set(found.slice(0, -1).map(({ hash }) => hash));
  return lines.filter(({ hash }) => !known.has(hash));
}

async function readTrail(
  { queries, keyedUser }: FenceTransaction,
  trail: readonly AuditedTransaction[],
): Promise<Followed & { readonly endings: readonly Ending[] }> {
  const restored = await readAuditHead(queries);
  const hashes = trail.flatMap(({ hash, previous }) => [hash, previous]);
  const found = await findEntries(queries, hashes, null);
  const entries = new Map(found.map(({ hash, sequence }) => [hash, sequence]));
  if (restored.sequence === 0) entries.set(restored.hash, 0);
  const { isWhole, parted, ...followed } = continuationOf(trail, restored, entries);
  const { named, endings } = followed;
  if (!isWhole)
    throw refused(
      `The lines do not follow the restored audit log, which ends with entry ${restored.sequence}: give all lines from the backup on.`,
      parted
        ? `Entry ${parted.sequence} of ${new Date(parted.at).toISOString()} follows neither that log nor another line.`
        : `They end with entry ${named}: append to the file again, or add newer lines.`,
    );
  const first = endings.reduce((least, { root }) => Math.min(least, root), restored.sequence);
  const later = await listRestores(queries, first, restoringActions);
  const restores = endingsOf(later, keyedUser).filter(({ action }) => effectOf(action) === 'restores');
  const isBack = ({ object, root, at }: (typeof endings)[number]) =>
    restores.some((one) => one.object === object && one.sequence > root && one.at > at);
  const stillEnded = endings.filter((ending) => isFinal(ending) || !isBack(ending));
  return { restored, ...followed, endings: stillEnded };
}

/** Earlier keys only verify; with `removeAll` not even that. */
async function replaceKeys(transaction: FenceTransaction, removeAll: boolean): Promise<void> {
  const { queries, algorithms } = transaction;
  await lockKeys(queries);
  const before = (await listKeys(queries)).filter(({ state }) => state !== 'retired');
  for (const key of before.filter(({ state }) => state === 'staged')) await retireKey(transaction, key);
  for (const algorithm of algorithms) {
    const kid = await publish(transaction, algorithm);
    const keys = await listKeys(queries);
    const fresh = keys.find((key) => key.kid === kid);
    if (fresh) await activate(transaction, fresh, keys);
  }
  if (!removeAll) return;
  for (const key of before.filter(({ state }) => state !== 'staged')) await retireKey(transaction, key);
}

async function endAgain(transaction: FenceTransaction, ended: readonly Ending[]) {
  const endedAgain: string[] = [];
  let unknownUsers: readonly string[] = [];
  const watched: FenceTransaction = {
    ...transaction,
    recordChange: (change) => {
      endedAgain.push(`${change.action} ${change.object}`);
      transaction.recordChange(change);
    },
  };
  /** By object names, in this order. */
  const again: Readonly<Record<EndingAction, (names: readonly string[]) => Promise<unknown>>> = {
    'secret.suspend': (secretIds) => suspend(watched, secretIds),
    'secret.retire': async (secretIds) => {
      for (const secretId of secretIds) {
        const secret = await findSecret(transaction.queries, secretId);
        if (secret && secret.retiredAt === null) await retireSecret(watched, secret);
      }
    },
    'client.deactivate': async (clientIds) => {
      for (const clientId of clientIds) {
        const client = await readClient(transaction.queries, transaction.environment, clientId, 'lock');
        if (client) await writeActive(watched, client, false);
      }
    },
    'key.retire': async (kids) => {
      const keys = await listKeys(transaction.queries);
      for (const key of keys.filter(({ kid, state }) => kids.includes(kid) && state !== 'retired'))
        await retireKey(watched, key);
    },
    'user.disable': async (keyedSubs) => {
      if (keyedSubs.length === 0) return;
      const disabled = new Set(keyedSubs);
      for await (const sub of everySub(transaction.queries))
        if (disabled.delete(transaction.keyedUser(sub))) await disableSub(watched, sub);
      unknownUsers = [...disabled];
    },
  };
  for (const [ending, endThem] of Object.entries(again)) {
    const objects = ended.filter(({ action }) => action === ending).map(({ object }) => object);
    await endThem(objects.map((object) => object.slice(object.indexOf(':') + 1)));
  }
  return { endedAgain, unknownUsers };
}

/** The valid ones of `secretIds`; null: all. */
async function suspend(
  { queries, recordChange }: AdminTransaction,
  secretIds: readonly string[] | null,
): Promise<readonly IssuedSecret[]> {
  const suspended = await suspendSecrets(queries, secretIds);
  for (const { secretId, clientId } of suspended)
    recordChange({
      action: 'secret.suspend',
      object: `secret:${secretId}`,
      clientId,
      fields: fieldChanges({}, { suspended: true }),
    });
  return suspended;
}
