// Private ports: loopback or a Unix socket, so that a caller needs an account on the machine or pod; on a network only
// with mTLS.
import { rmSync } from 'node:fs';
import { ServerCredentials } from '@grpc/grpc-js';
import { isLoopback } from '../process/ip-address.ts';
import { socketProblems } from '../process/listen.ts';
import type { Logger } from '../process/logger.ts';
import { port, secret, text } from '../process/setting-kinds.ts';
import { ConfigurationError, type Rule, readSettings, type SettingValues } from '../process/settings.ts';
import { type Certificates, renewedCredentials } from './tls.ts';

const pem = 'a PEM text';

/** By the end of their names; `callers`: who may connect. */
function settingsFor(callers: string, defaultPort: number) {
  return {
    HOST: text()
      .default('127.0.0.1')
      .describe(`Address that answers ${callers}; loopback unless certificates are set`),
    PORT: port().default(defaultPort).describe(`Port that answers ${callers}`),
    SOCKET: text().optional().describe(`Path of a Unix socket that answers ${callers} instead`),
    TLS_CERT: text(pem).optional().describe('Certificate of that port, PEM'),
    TLS_KEY: secret(pem).optional().describe('Key of that certificate, PEM'),
    TLS_CA: text(pem).optional().describe(`Authority that signs the certificates of ${callers}, PEM`),
  };
}

type Kinds = ReturnType<typeof settingsFor>;
type PrivatePortSettings<P extends string> = { readonly [K in keyof Kinds as `${P}_${K}`]: Kinds[K] };
type PrivatePortValues<P extends string> = SettingValues<PrivatePortSettings<P>>;
/** Settings without their `prefix`: `OPERATOR` for OPERATOR_HOST and so on. */
export type PrivatePort = SettingValues<Kinds> & { readonly prefix: string };

export function privatePortSettings<P extends string>(
  prefix: P,
  callers: string,
  defaultPort: number,
): PrivatePortSettings<P> {
  const settings = Object.entries(settingsFor(callers, defaultPort));
  return Object.fromEntries(
    settings.map(([name, setting]) => [`${prefix}_${name}`, setting]),
  ) as PrivatePortSettings<P>;
}

export function privatePort<P extends string>(prefix: P, values: PrivatePortValues<P>): PrivatePort {
  const named = Object.entries(values).map(([name, value]) => [name.replace(`${prefix}_`, ''), value]);
  return { ...Object.fromEntries(named), prefix };
}

/** Applies when `${prefix}_POSTGRES_URL` enables the port. */
export function privatePortRule(prefix: string): Rule {
  const database = `${prefix}_POSTGRES_URL`;
  return {
    of: [database, ...Object.keys(privatePortSettings(prefix, '', 0))],
    mistakes: (values) =>
      values[database] === undefined
        ? []
        : privatePortProblems(privatePort(prefix, values as PrivatePortValues<string>)),
  };
}

export type PrivateListener = ReturnType<typeof privateListener>;

/** Throws ConfigurationError. Removes the socket of an earlier process. */
export function privateListener(setting: PrivatePort, logger: Logger) {
  const { prefix, HOST, PORT, SOCKET } = setting;
  const mistakes = [
    ...privatePortProblems(setting),
    ...(SOCKET === undefined ? [] : socketProblems(`${prefix}_SOCKET`, SOCKET)),
  ];
  if (mistakes.length > 0) throw new ConfigurationError(mistakes);
  if (SOCKET !== undefined) rmSync(SOCKET, { force: true });
  const authority = HOST.includes(':') ? `[${HOST}]` : HOST;
  return {
    address: SOCKET === undefined ? `${authority}:${PORT}` : `unix:${SOCKET}`,
    portSetting: `${prefix}_PORT`,
    credentials: credentialsOf(setting, logger),
  };
}

/** Combinations that would admit strangers, or no client. Quotes no value. */
function privatePortProblems(setting: PrivatePort): readonly string[] {
  const { prefix, HOST, SOCKET, TLS_CERT, TLS_KEY, TLS_CA } = setting;
  const given = [TLS_CERT, TLS_KEY, TLS_CA].filter((part) => part !== undefined).length;
  const mistakes: string[] = [];
  if (given !== 0 && given !== 3)
    mistakes.push(
      `${prefix}_TLS_CERT, ${prefix}_TLS_KEY and ${prefix}_TLS_CA belong together: expected all or none`,
    );
  if (given === 0 && SOCKET === undefined && !isLoopback(HOST))
    mistakes.push(
      `${prefix}_HOST is not valid: expected a loopback address where ${prefix}_TLS_CERT is not set`,
    );
  return mistakes;
}

/** Files that settings name are read again. */
function credentialsOf(setting: PrivatePort, logger: Logger): ServerCredentials {
  const { prefix } = setting;
  const first = certificatesOf(setting);
  if (first === undefined) return ServerCredentials.createInsecure();
  const names = {
    certificate: `${prefix}_TLS_CERT`,
    privateKey: `${prefix}_TLS_KEY`,
    caCertificate: `${prefix}_TLS_CA`,
  };
  const read = () => certificatesOf(privatePort(prefix, readSettings(privatePortSettings(prefix, '', 0))));
  return renewedCredentials(first, read, { setting: names.certificate, names, logger }).server;
}

function certificatesOf({ TLS_CERT, TLS_KEY, TLS_CA }: PrivatePort): Certificates | undefined {
  if (TLS_CERT === undefined || TLS_KEY === undefined || TLS_CA === undefined) return undefined;
  return {
    certificate: Buffer.from(TLS_CERT),
    privateKey: Buffer.from(TLS_KEY.reveal()),
    caCertificate: Buffer.from(TLS_CA),
  };
}
