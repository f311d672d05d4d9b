// Test authorities and the certificates they sign, by openssl: of the stores, of operators, and one that follows upon another.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Keys of a Secret. */
export type Certificate = Readonly<Record<'tls.crt' | 'tls.key' | 'ca.crt', string>>;

/** A new key on P-256, and a certificate for it. */
const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -days 30'.split(' ');
const files = (directory: string, name: string) =>
  ['-keyout', join(directory, `${name}.key`), '-out', join(directory, `${name}.crt`)] as const;
const extension = (...lines: readonly string[]) => lines.flatMap((line) => ['-addext', line]);

/** Writes ca.crt and ca.key into `directory`. */
export function makeAuthority(directory: string): void {
  const subject = ['-subj', '/CN=course-exchange test authority'];
  openssl(
    ...request,
    ...subject,
    ...extension('basicConstraints=critical,CA:TRUE'),
    ...files(directory, 'ca'),
  );
}

/** A certificate for client and server use, for these names; a new serial and a new key at every call. */
export function signCertificate(directory: string, names: readonly [string, ...string[]]): Certificate {
  const own = mkdtempSync(join(tmpdir(), 'course-exchange-certificate-'));
  const signer = ['-CA', join(directory, 'ca.crt'), '-CAkey', join(directory, 'ca.key')];
  const extensions = extension(
    `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`,
    'basicConstraints=critical,CA:FALSE',
    'extendedKeyUsage=serverAuth,clientAuth',
  );
  try {
    openssl(
      ...request,
      '-subj',
      `/CN=${names[0].split('.')[0]}`,
      ...extensions,
      ...signer,
      ...files(own, 'tls'),
    );
    return {
      'tls.crt': text(join(own, 'tls.crt')),
      'tls.key': text(join(own, 'tls.key')),
      'ca.crt': text(join(directory, 'ca.crt')),
    };
  } finally {
    rmSync(own, { recursive: true });
  }
}

function openssl(...words: string[]): void {
  execFileSync('openssl', words, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function text(path: string): string {
  return readFileSync(path, 'utf8');
}
