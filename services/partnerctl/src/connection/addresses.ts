// The addresses of the two services: from the operator, the service's settings in its container, the local stack's
// file, or loopback.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { privatePorts } from '@course-exchange/rules/private-ports';
import { usageError } from '../output/errors.ts';

/** By the prefix of the settings for its private port in its container. */
const services = { identity: 'OPERATOR', catalog: 'FEED' } as const;

export type ServiceName = keyof typeof services;

export interface Address {
  readonly url: string;
  readonly socket?: string;
  readonly display: string;
  /** The address is the default. */
  readonly isAssumed?: boolean;
}

export interface AddressSources {
  readonly flags: Readonly<Partial<Record<ServiceName | 'stack', string>>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
}

const variableOf = (name: ServiceName): string => `PARTNERCTL_${name.toUpperCase()}`;

export function findAddress(name: ServiceName, sources: AddressSources): Address {
  const { flags, environment } = sources;
  const variable = variableOf(name);
  if (flags[name]) return parseAddress(flags[name], `--${name}`);
  if (environment[variable]) return parseAddress(environment[variable], variable);
  const stack = flags.stack ?? (environment.PARTNERCTL_STACK || undefined);
  const own = stack === undefined ? fromServiceSettings(name, environment) : undefined;
  const usual = parseAddress(`127.0.0.1:${privatePorts[services[name]]}`, 'the default');
  const other = name === 'identity' ? 'catalog' : 'identity';
  // Or two installations would be mixed.
  const isElsewhere = stack === undefined && Boolean(flags[other] || environment[variableOf(other)]);
  const found = isElsewhere ? undefined : fromStackFile(name, sources.directory, stack);
  return own ?? found ?? { ...usual, isAssumed: true };
}

/** `host:port`, `unix:/path` or `https://host:port`. */
export function parseAddress(text: string, source: string): Address {
  const display = `${text} (${source})`;
  const path = /^unix:(\/.+)$/.exec(text)?.[1];
  if (path !== undefined) return { url: 'http://localhost', socket: path, display };
  if (/^https:\/\/[^/]+$/.test(text) && URL.canParse(text)) return { url: text, display };
  const plain = /^[^/:\s]+:\d{1,5}$|^\[[0-9a-f:]+\]:\d{1,5}$/i.test(text);
  if (plain && !/:0+$/.test(text) && URL.canParse(`http://${text}`))
    return { url: `http://${text}`, display };
  throw usageError(
    `${source}: '${text}' is not an address.`,
    `Write 127.0.0.1:${privatePorts.OPERATOR}, unix:/path or https://host:port.`,
  );
}

function fromServiceSettings(
  name: ServiceName,
  environment: AddressSources['environment'],
): Address | undefined {
  const prefix = services[name];
  const [socket, port, host] = ['SOCKET', 'PORT', 'HOST'].map((part) => environment[`${prefix}_${part}`]);
  if (socket) return parseAddress(`unix:${socket}`, `${prefix}_SOCKET`);
  if ((!port && !host) || port === '0') return undefined;
  const target = host === undefined || /^(0\.0\.0\.0|::|)$/.test(host) ? '127.0.0.1' : host;
  const bracketed = target.includes(':') ? `[${target}]` : target;
  const isTls = environment[`${prefix}_TLS_CERT`] || environment[`${prefix}_TLS_CERT_FILE`];
  const scheme = isTls ? 'https://' : '';
  return parseAddress(
    `${scheme}${bracketed}:${port || privatePorts[prefix]}`,
    `${prefix}_${port ? 'PORT' : 'HOST'}`,
  );
}

/** `named`: by the operator; otherwise searched in `directory` and above. */
function fromStackFile(name: ServiceName, directory: string, named?: string): Address | undefined {
  const path = named === undefined ? nearestStackFile(directory) : resolve(directory, named);
  if (path === undefined) return undefined;
  const address = readStack(path).operator?.[name];
  if (address) return parseAddress(address, path);
  if (named === undefined) return undefined;
  throw usageError(`${path} does not say where the ${name} service listens for operators.`);
}

function nearestStackFile(directory: string): string | undefined {
  const path = join(directory, '.run', 'stack.json');
  if (existsSync(path)) return path;
  const above = dirname(directory);
  return above === directory ? undefined : nearestStackFile(above);
}

function readStack(path: string): { readonly operator?: Partial<Record<ServiceName, string>> } {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw usageError(`${path} ${error instanceof SyntaxError ? 'is not valid JSON' : 'cannot be read'}.`);
  }
}
