// Mutual TLS between services: certificate, key and authority from a folder in the layout of a kubernetes.io/tls
// Secret. They are read again while the process runs: connections that are open live on, new ones use what is there.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { experimental } from '@grpc/grpc-js';
import { type Logger, logText } from '../process/logger.ts';
import { ConfigurationError } from '../process/settings.ts';

export type RpcTls = NonNullable<ReturnType<typeof openRpcTls>>;

/** PEM. */
export interface Certificates {
  readonly certificate: Buffer;
  readonly privateKey: Buffer;
  readonly caCertificate: Buffer;
}

/** Milliseconds between two readings. A volume is swapped by its link, which a watch on the files would not see. */
const readingPause = 1_000;

/** Undefined: plaintext. Throws ConfigurationError when the files cannot be used. */
export function openRpcTls(directory: string | undefined, logger: Logger) {
  if (directory === undefined) return undefined;
  const first = readDirectory(directory);
  if (typeof first === 'string')
    throw new ConfigurationError([
      `RPC_TLS_DIRECTORY is not valid: expected a folder with tls.crt, tls.key and ca.crt, but ${first}`,
    ]);
  const read = (known: Certificates) => readDirectory(directory, known);
  const provider = followCertificates(first, read, logger, 'RPC_TLS_DIRECTORY');
  return {
    /** Asks every caller for a certificate of the authority. */
    server: experimental.createCertificateProviderServerCredentials(provider, provider, true),
    /** Shows the own certificate; the server's must be of the authority and name the host of the target. */
    channel: experimental.createCertificateProviderChannelCredentials(provider, provider),
    /** Ends the reading. */
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

/**
 * In the place of grpc-js' own provider, which drops a good certificate for a file that is gone or half written.
 * `read` gives what it is given where nothing has changed, and a sentence where the new ones cannot be used; `setting`
 * names them in the log.
 */
export function followCertificates(
  first: Certificates,
  read: (known: Certificates) => Certificates | string,
  logger: Logger,
  setting: string,
): experimental.CertificateProvider & { readonly close: () => void } {
  let current = first;
  let reported: string | undefined;
  const authorityListeners = new Set<experimental.CaCertificateUpdateListener>();
  const identityListeners = new Set<experimental.IdentityCertificateUpdateListener>();

  const readAgain = (): void => {
    const found = read(current);
    if (typeof found === 'string') {
      const fields = { setting: logText(setting), problem: logText(found) };
      if (found !== reported) logger.warn('certificates kept: new ones are unusable', fields);
      reported = found;
      return;
    }
    reported = undefined;
    if (found === current) return;
    current = found;
    for (const listener of authorityListeners) listener(current);
    for (const listener of identityListeners) listener(current);
    logger.info('certificates renewed', { setting: logText(setting) });
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

type Names = Readonly<Record<keyof Certificates, string>>;

const files: Names = { certificate: 'tls.crt', privateKey: 'tls.key', caCertificate: 'ca.crt' };

function readDirectory(directory: string, known?: Certificates): Certificates | string {
  const found: Partial<Record<keyof Certificates, Buffer>> = {};
  for (const part of ['certificate', 'privateKey', 'caCertificate'] as const) {
    try {
      found[part] = readFileSync(join(directory, files[part]));
    } catch {
      return `${files[part]} cannot be read`;
    }
  }
  return usable(found as Certificates, files, known);
}

/** `known`, which needs no parsing, where `found` is the same; what is wrong with it, in `names`, quotes nothing of it. */
export function usable(found: Certificates, names: Names, known?: Certificates): Certificates | string {
  if (known !== undefined && isSame(found, known)) return known;
  return mistakeIn(found, names) ?? found;
}

function mistakeIn(
  { certificate, privateKey, caCertificate }: Certificates,
  names: Names,
): string | undefined {
  if (!holdsCertificate(certificate)) return `${names.certificate} holds no PEM certificate`;
  if (!holdsCertificate(caCertificate)) return `${names.caCertificate} holds no PEM certificate`;
  try {
    // Also sees a key that belongs to another certificate: a volume that was swapped between two reads.
    createSecureContext({ cert: certificate, key: privateKey, ca: caCertificate });
  } catch {
    return `${names.privateKey} is not the key of ${names.certificate}`;
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

function isSame(one: Certificates, other: Certificates): boolean {
  const { certificate, privateKey, caCertificate } = other;
  return (
    one.certificate.equals(certificate) &&
    one.privateKey.equals(privateKey) &&
    one.caCertificate.equals(caCertificate)
  );
}
