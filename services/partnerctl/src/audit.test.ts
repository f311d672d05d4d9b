// What a reader of the audit log sees of an entry, and how a file follows the log.

import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { AuditEntrySchema, ListAuditEntriesResponseSchema } from '@course-exchange/proto/operator/v1/audit';
import { expect, onTestFinished, test } from 'vitest';
import { appendEntries, entryText } from './audit.ts';

test('an actor whom no certificate proves is marked', () => {
  const shown = (actor: string) => entryText(create(AuditEntrySchema, { actor }));
  expect(shown('cert:ann')).toContain('  cert:ann  ');
  expect(shown('local:ann')).toContain('  local:ann (not authenticated)  ');
  expect(shown('')).toContain('  (not authenticated)  ');
});

/** A log whose entries have the hashes of `chain`, a letter each. */
function logOf(chain: string): Parameters<typeof appendEntries>[0] {
  const entries = [...chain].map((hash, at) => create(AuditEntrySchema, { sequence: BigInt(at + 1), hash }));
  return {
    listAuditEntries: async ({ afterSequence = 0n }) => {
      const rest = entries.slice(Number(afterSequence));
      return create(ListAuditEntriesResponseSchema, { entries: rest.slice(0, 2), more: rest.length > 2 });
    },
  };
}

test('a file gets the entries that it lacks, also after a line cut off and after a restore', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'identity.ndjson');
  const hashes = () =>
    readFileSync(file, 'utf8').replace(/.*?"hash":"(.)".*\n|.*\n/g, (_, hash) => hash ?? '-');
  expect(await appendEntries(logOf('abc'), file)).toBe(3);
  expect(await appendEntries(logOf('abc'), file)).toBe(0);
  expect(hashes()).toBe('abc');
  truncateSync(file, readFileSync(file).length - 9);
  expect(await appendEntries(logOf('abcd'), file)).toBe(2);
  expect(hashes()).toBe('ab-cd');
  truncateSync(file, readFileSync(file).length - 1);
  expect(await appendEntries(logOf('abcde'), file)).toBe(1);
  expect(hashes()).toBe('ab-cde');
  await expect(appendEntries(logOf('vw'), file)).rejects.toThrow('another log');
  // The log was restored to its second entry and went on from there.
  expect(await appendEntries(logOf('abxyz'), file)).toBe(5);
  expect(hashes()).toBe('ab-cdeabxyz');
});
