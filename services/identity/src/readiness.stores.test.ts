// What identity's metrics look up in its stores.
import { expect, test } from 'vitest';
import { addPartner, recordRequests, useEndpoint } from '../../../test/stores/identity-grant.ts';
import { listLastingSecrets } from './clients/secret-table.ts';
import { observeStores } from './readiness.ts';

const { identity, redis, deps } = await useEndpoint();
const { metricsText } = await recordRequests();
const expire = (clientId: string, at: number) =>
  identity.sql(
    'update client_secrets set expires_at = to_timestamp($2::float8 / 1000) where client_id = $1',
    [clientId, at],
  );

test('a secret tells the seconds until it expires', async () => {
  const { clientId } = await addPartner(identity);
  const expiresAt = Date.now() + 3_600_000;
  await expire(clientId, expiresAt);
  let time = expiresAt - 90_000;
  observeStores({ database: identity.database, redis, keys: deps.tokens.keys, now: () => time });
  const series = new RegExp(`client_secret_expires_in_seconds{client_id="${clientId}".*} (.*)`);
  const secondsLeft = async () => series.exec(await metricsText())?.[1];
  // A scrape leaves out what the store does not answer within a second.
  await expect.poll(secondsLeft).toBe('90');
  time += 59_000;
  await expect.poll(secondsLeft).toBe('31');
});

test('the last secret of an active client is reported after it has expired, until another one is valid', async () => {
  const { clientId } = await addPartner(identity);
  const told = async () => {
    const secrets = await listLastingSecrets(identity.database);
    return secrets.filter((secret) => secret.clientId === clientId).map(({ expiresAt }) => expiresAt);
  };
  const add = (expiry: string) =>
    identity.sql(
      `insert into client_secrets (client_id, secret_hash, expires_at)
       values ($1, sha256(gen_random_uuid()::text::bytea), ${expiry})`,
      [clientId],
    );
  const anHourAgo = Date.now() - 3_600_000;
  await expire(clientId, anHourAgo);
  await add("now() - interval '1 day'");
  expect(await told()).toEqual([anHourAgo]);
  await add('null');
  expect(await told()).toEqual([null]);
  await expire(clientId, anHourAgo);
  await identity.sql('update clients set active = false where client_id = $1', [clientId]);
  expect(await told()).toEqual([]);
});
