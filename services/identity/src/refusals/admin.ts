// Operators' view of refusals.
import type { AdminContext } from '../admin/context.ts';
import type { ListedRefusal, RefusalFilter, RefusalPage } from './refusal-record.ts';
import { listRefusals } from './refusal-table.ts';

/** Newest first; `more`: others match after the last one. */
export async function findRefusals(
  { database }: Pick<AdminContext, 'database'>,
  filter: RefusalFilter,
  { after, limit }: RefusalPage,
): Promise<{ readonly refusals: readonly ListedRefusal[]; readonly more: boolean }> {
  const found = await listRefusals(database, filter, { after, limit: limit + 1 });
  return { refusals: found.slice(0, limit), more: found.length > limit };
}
