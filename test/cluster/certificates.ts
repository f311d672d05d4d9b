// A test authority and the certificates that it signs, by openssl: of the stores and of operators.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Keys of a Secret. */
export type Certificate = Readonly<Record<'tls.crt' | 'tls.key' | 'ca.crt', string>>;

/** Writes ca.crt and ca.key into `directory`. */
export function makeAuthority(directory: string): void {
  make(directory, 'ca', 'course-exchange test authority', ['basicConstraints=critical,CA:TRUE']);
}

/** A certificate for client and server use, for these names; a new serial and a new key at every call. */
export function signCertificate(directory: string, names: readonly [string, ...string[]]): Certificate {
  const extensions = [
    `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`,
    'basicConstraints=critical,CA:FALSE',
    'extendedKeyUsage=serverAuth,clientAuth',
  ];
  const signer = ['-CA', 'ca.crt', '-CAkey', 'ca.key'];
  make(directory, 'tls', names[0], extensions, signer);
  const text = (file: string) => readFileSync(join(directory, file), 'utf8');
  return { 'tls.crt': text('tls.crt'), 'tls.key': text('tls.key'), 'ca.crt': text('ca.crt') };
}

/** A new key on P-256 and a certificate for it. */
function make(
  cwd: string,
  file: string,
  subject: string,
  extensions: readonly string[],
  more: readonly string[] = [],
): void {
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -days 30'.split(' ');
  const files = ['-keyout', `${file}.key`, '-out', `${file}.crt`, '-subj', `/CN=${subject}`];
  const added = extensions.flatMap((line) => ['-addext', line]);
  execFileSync('openssl', [...request, ...files, ...added, ...more], {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}
