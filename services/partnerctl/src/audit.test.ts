// What a reader of the audit log sees of an entry.
import { create } from '@bufbuild/protobuf';
import { AuditEntrySchema } from '@course-exchange/proto/operator/v1/audit';
import { expect, test } from 'vitest';
import { entryText } from './audit.ts';

test('an actor whom no certificate proves is marked', () => {
  const shown = (actor: string) => entryText(create(AuditEntrySchema, { actor }));
  expect(shown('cert:ann')).toContain('  cert:ann  ');
  expect(shown('local:ann')).toContain('  local:ann (unproven)  ');
  expect(shown('')).toContain('  (unproven)  ');
});
