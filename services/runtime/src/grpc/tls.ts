// Mutual TLS between services and on private ports. Certificates are reloaded for new connections, by grpc-js'
// `experimental` provider, which no other file uses.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { experimental } from '@grpc/grpc-js';
import { type Logger, logText } from '../process/logger.ts';
import { ConfigurationError } from '../process/settings.ts';

const parts = ['certificate', 'privateKey', 'caCertificate'] as const;
type Part = (typeof parts)[number];
/** PEM. */
export type Certificates = Readonly<Record<Part, Buffer>>;
/** Their names in messages. */
type Names = Readonly<Record<Part, string>>;

/** Milliseconds. A watch on the files would miss that Kubernetes swaps a link. */
const readingPause = 1_000;

export type RpcTls = NonNullable<ReturnType<typeof openRpcTls>>;

/** A folder like a kubernetes.io/tls Secret; undefined: plaintext. Throws ConfigurationError. */
export function openRpcTls(directory: string | undefined, logger: Logger) {
  if (directory === undefined) return undefined;
  const read = () => readDirectory(directory);
  try {
    return renewedCredentials(read(), read, { setting: 'RPC_TLS_DIRECTORY', names: files, logger });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError([
      `RPC_TLS_DIRECTORY is not valid: expected a folder with tls.crt, tls.key and ca.crt, but ${error.mistakes}`,
    ]);
  }
}

/** A rule: an IP address cannot be a TLS server name (RFC 6066 §3). */
export function namelessTarget(name: string, target: string, directory: string | undefined): string[] {
  const host = /^(?:[a-z0-9]+:(?:\/\/[^/]*\/)?)?(\[.*\]|[^:]*)(?::\d+)?$/.exec(target)?.[1] ?? target;
  return directory !== undefined && isIP(host.replace(/^\[|\]$/g, '')) !== 0
    ? [`${name} is not valid: expected the name of a host where RPC_TLS_DIRECTORY is set`]
    : [];
}

interface Renewal {
  readonly setting: string;
  readonly names: Names;
  readonly logger: Logger;
}

/**
 * Follows `read`; undefined is unchanged. grpc-js' own provider drops a good certificate when a file is missing or
 * half written. Throws ConfigurationError when `first` is unusable.
 */
export function renewedCredentials(
  first: Certificates,
  read: () => Certificates | undefined,
  { setting, names, logger }: Renewal,
) {
  requireUsable(first, names);
  let current = first;
  let reported: string | undefined;
  const listeners = new Set<(certificates: Certificates) => void>();
  const readAgain = (): void => {
    try {
      const found = read() ?? current;
      if (parts.some((part) => !found[part].equals(current[part]))) {
        requireUsable(found, names);
        current = found;
        for (const listener of listeners) listener(current);
        logger.info('certificates renewed', { setting: logText(setting) });
      }
      reported = undefined;
    } catch (error) {
      const problem = error instanceof ConfigurationError ? error.mistakes.join(', ') : 'they cannot be read';
      const fields = { setting: logText(setting), problem: logText(problem) };
      if (problem !== reported) logger.warn('certificates kept: new ones are unusable', fields);
      reported = problem;
    }
  };
  const reading = setInterval(readAgain, readingPause).unref();
  const add = (listener: (certificates: Certificates) => void): void => {
    listeners.add(listener);
    process.nextTick(() => listener(current));
  };
  const remove = (listener: (certificates: Certificates) => void) => listeners.delete(listener);
  const provider: experimental.CertificateProvider = {
    addCaCertificateListener: add,
    removeCaCertificateListener: remove,
    addIdentityCertificateListener: add,
    removeIdentityCertificateListener: remove,
  };
  return {
    /** Requires a certificate of the authority from every caller. */
    server: experimental.createCertificateProviderServerCredentials(provider, provider, true),
    channel: experimental.createCertificateProviderChannelCredentials(provider, provider),
    close: () => clearInterval(reading),
  };
}

const files: Names = { certificate: 'tls.crt', privateKey: 'tls.key', caCertificate: 'ca.crt' };

function readDirectory(directory: string): Certificates {
  const read = (part: Part): Buffer => {
    try {
      return readFileSync(join(directory, files[part]));
    } catch {
      throw new ConfigurationError([`${files[part]} cannot be read`]);
    }
  };
  return {
    certificate: read('certificate'),
    privateKey: read('privateKey'),
    caCertificate: read('caCertificate'),
  };
}

/** Throws ConfigurationError, which quotes nothing of them. */
function requireUsable(found: Certificates, names: Names): void {
  const isPem = (part: Part) => attempt(() => new X509Certificate(found[part]));
  for (const part of ['certificate', 'caCertificate'] as const)
    if (!isPem(part)) throw new ConfigurationError([`${names[part]} holds no PEM certificate`]);
  const { certificate: cert, privateKey: key, caCertificate: ca } = found;
  // Also detects another certificate's key, after a swap between two reads.
  if (!attempt(() => createSecureContext({ cert, key, ca })))
    throw new ConfigurationError([`${names.privateKey} is not the key of ${names.certificate}`]);
}

function attempt(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
