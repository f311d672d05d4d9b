import { describe, expect, test } from 'vitest';
import { errorText } from './check-errors.ts';

const target = {
  setting: 'MIGRATOR_POSTGRES_URL',
  host: 'db.example',
  port: 5432,
  user: 'identity_migrator',
  database: 'exchange',
};
const sentenceOf = (code: string | undefined, message = '') =>
  errorText(Object.assign(new Error(message), { code }), target);

describe('a sentence for what a test without TLS and without full servers cannot bring about', () => {
  test.each([
    ['57P03', 'the database system is starting up', /is starting or stopping: wait .* run the job again\.$/],
    ['53300', 'sorry, too many clients already', /has no connection left: raise max_connections or lower/],
    [
      '28000',
      'no pg_hba.conf entry for host "10.0.0.7", user "u", database "d", no encryption',
      /takes only connections with TLS: add sslmode=verify-full and sslrootcert to MIGRATOR_POSTGRES_URL\.$/,
    ],
    [
      '28000',
      'no pg_hba.conf entry for host "10.0.0.7", user "u", database "d", SSL encryption',
      /does not let identity_migrator into exchange from here: add a line to its pg_hba\.conf\.$/,
    ],
    ['28000', 'role "u" is not permitted to log in', /alter the role with LOGIN\.$/],
    [
      '42501',
      'permission denied for database "d"',
      /run deploy\/postgres\/roles\.sql in the database exchange, as superuser or as its owner with CREATEROLE\.$/,
    ],
    [
      '08P01',
      'unsupported startup parameter: options',
      /as a connection pooler does: name the server itself in MIGRATOR_POSTGRES_URL\.$/,
    ],
    ['SELF_SIGNED_CERT_IN_CHAIN', '', /not trusted: name its authority by sslrootcert/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', '', /another name than db\.example: use the name in the certificate/],
    ['CERT_HAS_EXPIRED', '', /^The certificate of Postgres at db\.example:5432 has expired: renew it\.$/],
    ['ENOENT', '', /A file that MIGRATOR_POSTGRES_URL names .* is missing: mount it\.$/],
    [undefined, 'timeout expired', /does not answer: correct host and port in MIGRATOR_POSTGRES_URL/],
    [
      undefined,
      'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string',
      /asks for a password of identity_migrator: set MIGRATOR_POSTGRES_PASSWORD\.$/,
    ],
    ['XX000', 'internal', /cannot be used by identity_migrator \(XX000\): look at the server's log/],
  ])('%s %s', (code, message, sentence) => {
    expect(sentenceOf(code, message)).toMatch(sentence);
  });
});

test('a database may be called what it likes', () => {
  expect(sentenceOf('3D000', 'database "timeout" does not exist')).toMatch(/has no database exchange/);
});

test("the server's own words stay out", () => {
  expect(sentenceOf('28P01', 'password "hunter2" is wrong')).not.toContain('hunter2');
});
