// The restore fence and archived entries of the audit log: their hashes prove every part of them.
import { create } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { AuditEntrySchema, ListAuditEntriesRequestSchema } from '@course-exchange/proto/operator/v1/audit';
import {
  type AuditedTransaction,
  AuditedTransactionSchema,
  type FenceRequest,
  FenceRequestSchema,
  RestoredStore,
} from '@course-exchange/proto/operator/v1/restore';
import { createAuditHandlers } from '@course-exchange/runtime/audit/rpc';
import type { IncomingCall } from '@course-exchange/runtime/grpc/incoming-call';
import { beforeAll, expect, test } from 'vitest';
import { useOperatorContext } from '../../../../test/stores/operator-context.ts';
import { createRestoreHandlers } from './rpc.ts';

const { identity, context, activeClient } = await useOperatorContext();
const { fence } = createRestoreHandlers(context);
const call = { certificate: () => undefined, metadata: () => 'anna' } as unknown as IncomingCall;
let archive: AuditedTransaction[];

beforeAll(async () => {
  await activeClient();
  const { listAuditEntries } = createAuditHandlers(identity.operator);
  const { entries = [] } = await listAuditEntries(
    create(ListAuditEntriesRequestSchema, { pageSize: 1_000 }),
    call,
  );
  let previous = '0'.repeat(64);
  archive = entries.map((one) => {
    const { sequence, at, actor, change, clientId, requestId, hash } = create(AuditEntrySchema, one);
    const own = { sequence, hash, previous, actor, clientId, requestId };
    previous = hash;
    return create(AuditedTransactionSchema, { ...own, ...(at && { at }), ...(change && { change }) });
  });
  // As restored from before the first entry.
  await identity.sql('alter table audit_log disable trigger user');
  await identity.sql('delete from audit_log');
});

async function outcomeOf(transactions: readonly AuditedTransaction[]) {
  async function* requests(): AsyncGenerator<FenceRequest> {
    yield create(FenceRequestSchema, { restored: RestoredStore.POSTGRES, dryRun: true });
    yield create(FenceRequestSchema, { transactions: [...transactions] });
  }
  const answer = await fence(requests(), call).catch(({ detail }: { detail: string }) => detail);
  if (typeof answer === 'string') return answer;
  const { provenEntries, unprovenLines, unprovenSequences } = answer.continuation ?? {};
  return { provenEntries, unprovenLines, unprovenSequences };
}

const edits: Readonly<Record<string, (line: AuditedTransaction) => unknown>> = {
  action: ({ change }) => Object.assign(change ?? {}, { action: 'client.edit' }),
  object: ({ change }) => Object.assign(change ?? {}, { object: 'client:other' }),
  'value before': ({ change }) => Object.assign(change?.fields[0] ?? {}, { before: '"x"' }),
  'value after': ({ change }) => Object.assign(change?.fields[0] ?? {}, { after: '"x"' }),
  'value gone': ({ change }) => Object.assign(change?.fields[0] ?? {}, { after: '' }),
  'name of a field': ({ change }) => Object.assign(change?.fields[0] ?? {}, { field: 'x' }),
  'field gone': ({ change }) => change?.fields.pop(),
  actor: (line) => Object.assign(line, { actor: 'local:eve' }),
  client: (line) => Object.assign(line, { clientId: 'other' }),
  request: (line) => Object.assign(line, { requestId: '' }),
  millisecond: (line) =>
    Object.assign(line, { at: timestampFromMs(1 + timestampMs(line.at ?? ({} as never))) }),
  previous: (line) => Object.assign(line, { previous: 'f'.repeat(64) }),
  hash: (line) => Object.assign(line, { hash: 'f'.repeat(64) }),
};

const clone = () => structuredClone(archive);

test('entries as they were written are proven, in any order and twice', async () => {
  const proven = { provenEntries: BigInt(archive.length), unprovenLines: 0n, unprovenSequences: [] };
  expect(archive.length).toBeGreaterThan(3);
  expect(await outcomeOf(archive)).toEqual(proven);
  expect(await outcomeOf([...clone().reverse(), ...archive])).toEqual(proven);
});

test.each(Object.entries(edits))('an entry with another %s is refused by its number', async (_, edit) => {
  for (const at of [0, archive.length - 1]) {
    const lines = clone();
    edit(lines[at] as AuditedTransaction);
    expect(await outcomeOf(lines)).toContain(`Entry ${at + 1} does not have the hash of its content`);
    // Beside the honest one, too.
    expect(await outcomeOf([...archive, ...lines])).toContain(`Entry ${at + 1} does not have the hash`);
  }
});

test('an entry whose fields have another order is refused by its number', async () => {
  const [first, ...rest] = clone() as [AuditedTransaction];
  first.change?.fields.reverse();
  expect(await outcomeOf([first, ...rest])).toContain('Entry 1 does not have the hash of its content');
});

test('an entry that is missing is found, and of two that changed places none is lost', async () => {
  expect(await outcomeOf(clone().toSpliced(1, 1))).toContain('do not follow the restored audit log');
  const [first, second, ...rest] = clone() as [AuditedTransaction, AuditedTransaction];
  const { sequence } = first;
  Object.assign(first, { sequence: second.sequence });
  Object.assign(second, { sequence });
  expect(await outcomeOf([second, first, ...rest])).toContain('Entry 1 does not have the hash');
});

test('entries as the previous partnerctl sends them are followed, and unproven', async () => {
  const lines = clone().map((line) => Object.assign(line, { actor: '', clientId: '', requestId: '' }));
  expect(await outcomeOf(lines)).toMatchObject({ provenEntries: 0n, unprovenLines: BigInt(lines.length) });
  expect(await outcomeOf([...lines.slice(1), ...archive.slice(0, 2)])).toMatchObject({
    provenEntries: 2n,
    unprovenSequences: lines.slice(2).map(({ sequence }) => sequence),
  });
});
