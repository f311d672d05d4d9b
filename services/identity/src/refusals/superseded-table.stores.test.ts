// What support learns of a connection that a code exchange ended: the records, joined to refusals (R11.7).
import { expect, test } from 'vitest';
import { useIdentityDatabase } from '../../../../test/stores/postgres.ts';
import type { ClientId } from '../ids.ts';
import { explain } from './explanation.ts';
import type { RefusalRecord } from './reasons.ts';
import { findRefusals } from './records.ts';
import { insertRefusals } from './refusal-table.ts';
import { cleanSupersededFamilies, type EndedFamily, insertSupersededFamilies } from './superseded-table.ts';

const { database, operator, sql } = await useIdentityDatabase();
const day = 86_400_000;
const clientId = 'acme' as ClientId;

const ended = (family: string, at: number, revoked: EndedFamily['revoked'] = 'superseded'): EndedFamily => ({
  ...{ family, clientId, requestId: `end of ${family}`, at, revoked },
});
const refused = (family: string, at: number, over: Partial<RefusalRecord> = {}): RefusalRecord => ({
  ...{ requestId: family, at, endpoint: 'token', clientId, clientAuthenticated: true, code: 'invalid_grant' },
  ...{ reason: 'refresh_token_not_known', user: undefined, family, earlier: undefined },
  ...over,
});
async function told(requestId: string) {
  const filter = { requestId, clientId: undefined, code: undefined, since: undefined, until: undefined };
  const { refusals } = await findRefusals({ database: operator }, filter, { after: undefined, limit: 1 });
  const [one] = refusals;
  if (one === undefined) throw new Error('no record');
  return { reason: one.reason, earlier: one.earlier, sentence: explain(one).sentence };
}

test('a token of it that is not known any more is explained by that exchange, for seven days [R11.7]', async () => {
  const now = Math.floor(Date.now() / 1_000) * 1_000;
  const begun = now - 3 * 3_600_000;
  const ages = {
    now: begun,
    'in words': begun,
    'to the edge': now - 7 * day + 60_000,
    'longer ago': now - 7 * day - 60_000,
  };
  await insertSupersededFamilies(database, [
    ...Object.entries(ages).map(([family, at]) => ended(family, at)),
    ended('replayed before', begun, 'code_replayed'),
    ended('another client’s', begun),
    ended('with a code', begun),
  ]);
  await insertRefusals(database, [
    ...['now', 'to the edge', 'longer ago', 'replayed before', 'unknown'].map((family) =>
      refused(family, now),
    ),
    refused('another client’s', now, { clientId: 'other' as ClientId }),
    refused('with a code', now, { reason: 'code_not_known' }),
    // As earlier builds stored it.
    refused('in words', now, { reason: 'refresh_token.refused not_known' as RefusalRecord['reason'] }),
  ]);
  const superseded = (family: keyof typeof ages) => ({
    reason: 'refresh_token_superseded',
    earlier: { requestId: `end of ${family}`, at: ages[family], revoked: 'superseded' },
  });
  expect(await told('now')).toEqual({
    ...superseded('now'),
    sentence:
      'A code exchange 3 hours earlier ended this connection: the user had too many with the client, and its refresh token was the oldest of those that began first.',
  });
  expect(await told('to the edge')).toMatchObject(superseded('to the edge'));
  expect(await told('in words')).toMatchObject(superseded('in words'));
  expect(await told('replayed before')).toMatchObject({
    reason: 'refresh_token_revoked',
    sentence: expect.stringMatching(/^The authorization code was sent a second time 3 hours earlier:/),
  });
  for (const other of ['longer ago', 'another client’s', 'unknown'])
    expect(await told(other)).toMatchObject({ reason: 'refresh_token_not_known', earlier: null });
  expect(await told('with a code')).toMatchObject({ reason: 'code_not_known' });
});

test('records live as long as the refusals that they explain, and the newest of the maximum', async () => {
  await sql('delete from superseded_families');
  const now = Date.now();
  await insertSupersededFamilies(
    database,
    [13.9, 14.1].map((days) => ended(`${days}`, now - days * day)),
  );
  // Twice the same: the first one stays.
  await insertSupersededFamilies(database, [ended('13.9', now)]);
  await cleanSupersededFamilies(database);
  const left = async () =>
    (await sql('select family_hash from superseded_families order by at')).map(
      ({ family_hash }) => family_hash,
    );
  expect(await left()).toEqual(['13.9']);
  await insertSupersededFamilies(
    database,
    Array.from({ length: 6_000 }, (_, n) => ended(`${n}`, now + n)),
  );
  expect(await cleanSupersededFamilies(database, 3)).toBe(5_998);
  expect(await left()).toEqual(['5997', '5998', '5999']);
});

test('the service cannot read what it wrote, and no role changes it', async () => {
  const run = (by: typeof database, text: string) => by.query({ name: '', text }, []);
  const denied = { code: '42501' };
  await expect(run(database, 'select request_id from superseded_families')).rejects.toMatchObject(denied);
  await expect(run(database, 'update superseded_families set at = now()')).rejects.toMatchObject(denied);
  await expect(run(operator, 'delete from superseded_families')).rejects.toMatchObject(denied);
});
