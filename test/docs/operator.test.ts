import { expect, test } from 'vitest';
import { exitCodes } from '../../services/partnerctl/src/frame/exit-codes.ts';
import { section, tableRows } from './documents.ts';

test('docs/operator.md lists every exit code of partnerctl', () => {
  const rows = tableRows(section('docs/operator.md', '## Exit codes'));
  expect(rows).toEqual(Object.values(exitCodes).map(({ code, means }) => [String(code), means]));
});
