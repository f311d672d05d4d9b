// A test authority of this run alone and the certificates it signs, by openssl. run.ts makes the authority before Node
// starts the suite, so that NODE_EXTRA_CA_CERTS can name it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificate {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

const elliptic = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc', '-days', '30'];

/** Writes ca.crt and ca.key into `directory`. */
export function makeAuthority(directory: string): void {
  openssl(
    'req',
    '-x509',
    ...elliptic,
    '-subj',
    '/CN=course-exchange test authority',
    ...[
      '-addext',
      'basicConstraints=critical,CA:TRUE',
      '-keyout',
      join(directory, 'ca.key'),
      '-out',
      join(directory, 'ca.crt'),
    ],
  );
}

/** A certificate for client and server use, for these names; a new serial and a new key at every call. */
export function signCertificate(directory: string, names: readonly [string, ...string[]]): Certificate {
  const own = mkdtempSync(join(tmpdir(), 'course-exchange-certificate-'));
  try {
    const [certificate, key] = [join(own, 'tls.crt'), join(own, 'tls.key')];
    openssl(
      'req',
      '-x509',
      ...elliptic,
      '-subj',
      `/CN=${names[0].split('.')[0]}`,
      ...[
        '-addext',
        `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`,
        '-addext',
        'basicConstraints=critical,CA:FALSE',
        '-addext',
        'extendedKeyUsage=serverAuth,clientAuth',
        '-CA',
        join(directory, 'ca.crt'),
        '-CAkey',
        join(directory, 'ca.key'),
        '-keyout',
        key,
        '-out',
        certificate,
      ],
    );
    return { certificate: text(certificate), key: text(key), authority: text(join(directory, 'ca.crt')) };
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
