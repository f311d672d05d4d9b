// Authorities and certificates for tests of mutual TLS between services, and folders that hold them as Kubernetes
// mounts a Secret: files that are links into a version, which is swapped as a whole.
// The certificate library asks for it before its own first line.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BasicConstraintsExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const dayMs = 86_400_000;

export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

export type Authority = Awaited<ReturnType<typeof createAuthority>>;

/** What a folder of RPC_TLS_DIRECTORY holds. */
export interface Mounted extends Issued {
  readonly authority: string;
}

const times = () => ({ notBefore: new Date(Date.now() - dayMs), notAfter: new Date(Date.now() + dayMs) });
const makeKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
const pem = (certificate: X509Certificate): string => `${certificate.toString('pem')}\n`;

export async function createAuthority(name = 'Test authority') {
  const keys = await makeKeys();
  const extensions = [new BasicConstraintsExtension(true, undefined, true)];
  const own = await X509CertificateGenerator.createSelfSigned(
    { name: `CN=${name}`, keys, signingAlgorithm: algorithm, extensions, ...times() },
    webcrypto as Crypto,
  );
  return {
    certificate: pem(own),
    /**
     * A certificate for server and client alike, of these DNS names and addresses; `name` is its common name, or its whole
     * subject, such as `O=x`.
     */
    issue: async (
      names: readonly string[] = ['localhost', '127.0.0.1'],
      name = 'service',
    ): Promise<Issued> => {
      const theirs = await makeKeys();
      const certificate = await X509CertificateGenerator.create(
        {
          subject: name.includes('=') ? name : `CN=${name}`,
          issuer: own.subject,
          publicKey: theirs.publicKey,
          signingKey: keys.privateKey,
          signingAlgorithm: algorithm,
          extensions: [
            new SubjectAlternativeNameExtension(
              names.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value })),
            ),
          ],
          ...times(),
        },
        webcrypto as Crypto,
      );
      const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', theirs.privateKey);
      return { certificate: pem(certificate), key: `${PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n` };
    },
  };
}

let versions = 0;

/** Puts `content` into `directory` in one step, over what was there. */
export function mount(directory: string, { certificate, key, authority }: Mounted): void {
  const version = `..version-${++versions}`;
  mkdirSync(join(directory, version), { recursive: true });
  for (const [name, text] of [
    ['tls.crt', certificate],
    ['tls.key', key],
    ['ca.crt', authority],
  ] as const)
    writeFileSync(join(directory, version, name), text);
  symlinkSync(version, join(directory, '..data_tmp'));
  renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
  for (const name of ['tls.crt', 'tls.key', 'ca.crt'])
    if (!existsSync(join(directory, name))) symlinkSync(join('..data', name), join(directory, name));
}
