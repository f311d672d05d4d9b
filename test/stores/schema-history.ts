// What the first version of each schema was written with: the statements of the code of that time, which every later version
// must go on taking (decision 0019).
import { randomBytes } from 'node:crypto';

export type Schema = 'identity' | 'catalog';

const hash = () => `'\\x${randomBytes(32).toString('hex')}'`;
const nextSequence = (schema: Schema) => `(select coalesce(max(sequence), 0) + 1 from ${schema}.audit_log)`;

/** Complete statements by who runs them. `mark` tells the rows of one run from those of another. */
export const writings = (mark: string) => ({
  identity: {
    superuser: [
      `insert into identity.users (sub, email, email_verified, name, password_hash, disabled_at)
         values ('user-${mark}', 'ann-${mark}@example.com', true, 'Ann', '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaA', null),
           ('gone-${mark}', 'bo-${mark}@example.com', false, 'Bo', '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaA', now())`,
      `insert into identity.clients (client_id, name, active, scopes, redirect_uris)
         values ('client-${mark}', 'Acme', true, array['openid', 'email'], array['https://acme.example/callback'])`,
      `insert into identity.client_secrets (client_id, secret_hash, expires_at)
         values ('client-${mark}', ${hash()}, now() + interval '1 day'), ('client-${mark}', ${hash()}, null)`,
      `insert into identity.consents (consent_id, sub, client_id, scopes, withdrawn_at)
         values ('old-${mark}', 'user-${mark}', 'client-${mark}', array['openid'], now())`,
      `insert into identity.signing_keys (kid, algorithm, public_jwk, private_key, state, superseded_at)
         values ('superseded-${mark}', 'RS256', '{"kty":"RSA"}', '\\x00', 'superseded', now())`,
    ],
    identity_rw: [
      `insert into consents (consent_id, sub, client_id, scopes)
         values ('now-${mark}', 'user-${mark}', 'client-${mark}', array['openid'])`,
      `update consents set scopes = array['openid', 'email'], extended_at = now() where consent_id = 'now-${mark}'`,
      'select kid, algorithm, public_jwk, private_key, state, superseded_at from signing_keys',
      'select sub, email, email_verified, name, password_hash, disabled_at, signed_out_at from users',
      'select client_id, name, active, scopes, redirect_uris from clients join client_secrets using (client_id)',
    ],
    identity_operator: [
      `update clients set registration = '{"userJourney":"once"}', approval_state = 'test', version = version + 1,
           changed_at = now()
         where client_id = 'client-${mark}'`,
      `insert into client_approvals (client_id, state, operator, note) values ('client-${mark}', 'test', 'ann', 'as agreed')`,
      `update client_secrets set retired_at = now() where client_id = 'client-${mark}' and expires_at is not null`,
      `update users set imported_hash = ${hash()}, signed_out_at = now() where sub = 'user-${mark}'`,
      `update signing_keys set state = 'retired', retired_at = now(), private_key = '' where kid = 'superseded-${mark}'`,
      `insert into audit_log (sequence, at, actor, action, object, client_id, request_id, fields, hash)
         select ${nextSequence('identity')}, now(), 'ann', 'client.approve', 'client ${mark}', 'client-${mark}', 'r', '{}', ${hash()}::bytea`,
    ],
  },
  catalog: {
    superuser: [
      `insert into catalog.designs (owner, id, event_id, title, event_name, short_descr, event_date, updated_at)
         select 'owner-${mark}', 'd' || n, 'e' || n % 3, 'Round ' || n, 'Cup ' || n % 2, '1.20 m',
           timestamptz '2026-01-01' + n * interval '1 day', timestamptz '2026-02-01' + n % 7 * interval '1 hour'
         from generate_series(1, 40) n`,
      `update catalog.designs set deleted_at = now() where owner = 'owner-${mark}' and id in ('d3', 'd6', 'd9')`,
      `update catalog.designs set event_id = 'moved', updated_at = null where owner = 'owner-${mark}' and id = 'd4'`,
      `delete from catalog.designs where owner = 'owner-${mark}' and id = 'd7'`,
    ],
    catalog_feed: [
      `insert into designs (owner, id, event_id, title, event_name, updated_at, revision)
         values ('owner-${mark}', 'd1', 'e1', 'Round 1b', 'Cup 1b', '2026-03-01', 5),
           ('owner-${mark}', 'fed', 'e2', 'Fed', 'Cup 2', '2026-03-02', 18446744073709551615)
         on conflict (owner, id) do update set title = excluded.title, event_name = excluded.event_name,
           updated_at = excluded.updated_at, revision = excluded.revision`,
      `insert into resume_points (source, position) values ('source-${mark}', 7)`,
      `insert into audit_log (sequence, at, actor, action, object, request_id, fields, hash)
         select ${nextSequence('catalog')}, now(), 'feed', 'designs.apply', 'source ${mark}', 'r', '{}', ${hash()}::bytea`,
    ],
  },
});
