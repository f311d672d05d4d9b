// Mutual TLS between services: certificate, key and authority from a folder in the layout of a kubernetes.io/tls
// Secret. They are read again while the process runs: connections that are open live on, new ones use what is there.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { type ChannelCredentials, experimental, type ServerCredentials } from '@grpc/grpc-js';
import { ConfigurationError } from './env.ts';
import { type Logger, logText } from './logger.ts';

export interface RpcTls {
  /** Asks every caller for a certificate of the authority. */
  readonly server: ServerCredentials;
  /** Shows the own certificate; the server's must be of the authority and name the host of the target. */
  readonly channel: ChannelCredentials;
  /** Ends the reading. */
  readonly close: () => void;
}

interface Certificates {
  readonly certificate: Buffer;
  readonly privateKey: Buffer;
  readonly caCertificate: Buffer;
}

/** Milliseconds between two looks. A volume is swapped by its link, which a watch on the files would not see. */
const readingPause = 1_000;

/** Undefined: plaintext. Throws ConfigurationError when the files cannot be used. */
export function openRpcTls(directory: string | undefined, logger: Logger): RpcTls | undefined {
  if (directory === undefined) return undefined;
  const provider = followCertificates(directory, logger);
  return {
    server: experimental.createCertificateProviderServerCredentials(provider, provider, true),
    channel: experimental.createCertificateProviderChannelCredentials(provider, provider),
    close: provider.close,
  };
}

/**
 * For a rule on settings: Node sends no address as the name of a server (RFC 6066 §3), so that no call to a target
 * without a host name would ever be answered.
 */
export function namelessTarget(name: string, target: string, directory: string | undefined): string[] {
  const host = /^(?:[a-z0-9]+:(?:\/\/[^/]*\/)?)?(\[.*\]|[^:]*)(?::\d+)?$/.exec(target)?.[1] ?? target;
  return directory !== undefined && isIP(host.replace(/^\[|\]$/g, '')) !== 0
    ? [`${name} is not valid: expected the name of a host where RPC_TLS_DIRECTORY is set`]
    : [];
}

/** In the place of grpc-js' own provider, which drops a good certificate for a file that is gone or half written. */
function followCertificates(
  directory: string,
  logger: Logger,
): experimental.CertificateProvider & { readonly close: () => void } {
  let current = firstCertificates(directory);
  let reported: string | undefined;
  const authorityListeners = new Set<experimental.CaCertificateUpdateListener>();
  const identityListeners = new Set<experimental.IdentityCertificateUpdateListener>();

  const readAgain = (): void => {
    const read = readFiles(directory);
    // Nearly every look finds what it knows: only what is new is parsed.
    const found = typeof read === 'string' || same(read, current) ? read : (mistakeIn(read) ?? read);
    if (typeof found === 'string') {
      if (found !== reported)
        logger.warn('certificates between services kept: new ones are unusable', { problem: logText(found) });
      reported = found;
      return;
    }
    reported = undefined;
    if (same(found, current)) return;
    current = found;
    for (const listener of authorityListeners) listener(current);
    for (const listener of identityListeners) listener(current);
    logger.info('certificates between services renewed');
  };
  const reading = setInterval(readAgain, readingPause).unref();

  return {
    addCaCertificateListener: (listener) => {
      authorityListeners.add(listener);
      process.nextTick(() => listener(current));
    },
    removeCaCertificateListener: (listener) => authorityListeners.delete(listener),
    addIdentityCertificateListener: (listener) => {
      identityListeners.add(listener);
      process.nextTick(() => listener(current));
    },
    removeIdentityCertificateListener: (listener) => identityListeners.delete(listener),
    close: () => clearInterval(reading),
  };
}

function firstCertificates(directory: string): Certificates {
  const read = readFiles(directory);
  const found = typeof read === 'string' ? read : (mistakeIn(read) ?? read);
  if (typeof found !== 'string') return found;
  throw new ConfigurationError([
    `RPC_TLS_DIRECTORY is not valid: expected a folder with tls.crt, tls.key and ca.crt, but ${found}`,
  ]);
}

/** Which file cannot be read, as the end of a sentence. */
function readFiles(directory: string): Certificates | string {
  const files: Buffer[] = [];
  for (const name of ['tls.crt', 'tls.key', 'ca.crt']) {
    try {
      files.push(readFileSync(join(directory, name)));
    } catch {
      return `${name} cannot be read`;
    }
  }
  const [certificate, privateKey, caCertificate] = files as [Buffer, Buffer, Buffer];
  return { certificate, privateKey, caCertificate };
}

/** What is wrong, as the end of a sentence, when the files do not make a whole. It quotes nothing of them. */
function mistakeIn({ certificate, privateKey, caCertificate }: Certificates): string | undefined {
  if (!holdsCertificate(certificate)) return 'tls.crt holds no PEM certificate';
  if (!holdsCertificate(caCertificate)) return 'ca.crt holds no PEM certificate';
  try {
    // Also sees a key that belongs to another certificate: a volume that was swapped between two reads.
    createSecureContext({ cert: certificate, key: privateKey, ca: caCertificate });
  } catch {
    return 'tls.key is not the key of tls.crt';
  }
  return undefined;
}

function holdsCertificate(pem: Buffer): boolean {
  try {
    return new X509Certificate(pem).fingerprint256 !== '';
  } catch {
    return false;
  }
}

function same(one: Certificates, other: Certificates): boolean {
  return (
    one.certificate.equals(other.certificate) &&
    one.privateKey.equals(other.privateKey) &&
    one.caCertificate.equals(other.caCertificate)
  );
}
