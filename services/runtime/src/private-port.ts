// Ports that are not for everybody: loopback or a Unix socket, so that reaching one takes an account on the
// machine or in the pod; over a network only with certificates on both sides (mTLS).
import { ServerCredentials } from '@grpc/grpc-js';
import { ConfigurationError } from './env.ts';
import { removeSocket, socketMistakes } from './private-socket.ts';
import type { Secret } from './secret.ts';

export interface PrivatePort {
  /** Begins the names of its settings: `OPERATOR` for OPERATOR_HOST and so on. */
  readonly prefix: string;
  readonly host: string;
  readonly port: number;
  /** Path of a Unix socket for this account alone; takes the place of host and port. */
  readonly socket: string | undefined;
  /** PEM: own certificate, its key, and the authority whose certificates callers must show. */
  readonly certificate: string | undefined;
  readonly key: Secret<string> | undefined;
  readonly authority: string | undefined;
}

/** What `serveRpc` is given of it. */
export interface PrivateListener {
  readonly address: string;
  readonly portSetting: string;
  readonly credentials: ServerCredentials;
}

const loopback = /^(127(\.\d{1,3}){3}|::1|localhost)$/;

/**
 * Throws one ConfigurationError that lists every mistake. A socket that an earlier process left behind is
 * removed.
 */
export function privateListener(setting: PrivatePort): PrivateListener {
  const { prefix, host, port, socket } = setting;
  const mistakes = [
    ...privatePortMistakes(setting),
    ...(socket === undefined ? [] : socketMistakes(`${prefix}_SOCKET`, socket)),
  ];
  if (mistakes.length > 0) throw new ConfigurationError(mistakes);
  if (socket !== undefined) removeSocket(socket);
  const authority = host.includes(':') ? `[${host}]` : host;
  return {
    address: socket === undefined ? `${authority}:${port}` : `unix:${socket}`,
    portSetting: `${prefix}_PORT`,
    credentials: credentialsOf(setting),
  };
}

/** One sentence for each combination that would let strangers in, or nobody. Quotes no value. */
export function privatePortMistakes(setting: PrivatePort): readonly string[] {
  const { prefix, host, socket, certificate, key, authority } = setting;
  const given = [certificate, key, authority].filter((part) => part !== undefined).length;
  const mistakes: string[] = [];
  if (given !== 0 && given !== 3)
    mistakes.push(
      `${prefix}_TLS_CERT, ${prefix}_TLS_KEY and ${prefix}_TLS_CA belong together: expected all or none`,
    );
  if (given === 0 && socket === undefined && !loopback.test(host))
    mistakes.push(
      `${prefix}_HOST is not valid: expected a loopback address where ${prefix}_TLS_CERT is not set`,
    );
  return mistakes;
}

function credentialsOf({ certificate, key, authority }: PrivatePort): ServerCredentials {
  if (certificate === undefined || key === undefined || authority === undefined)
    return ServerCredentials.createInsecure();
  const pair = { cert_chain: Buffer.from(certificate), private_key: Buffer.from(key.reveal()) };
  return ServerCredentials.createSsl(Buffer.from(authority), [pair], true);
}
