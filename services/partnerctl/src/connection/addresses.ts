// Where the two services listen: what the operator says, else what the local stack's file says, else loopback.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { usageError } from '../cli/errors.ts';

export type ServiceName = 'identity' | 'catalog';

export interface Address {
  /** `http://…` or `https://…`. */
  readonly url: string;
  /** Path of the Unix socket to connect to instead of the URL's host. */
  readonly socket?: string;
  /** The address and where it was found, for people. */
  readonly display: string;
}

/** The settings of the service by which, in its own container, its private port is found. */
const settings: Readonly<Record<ServiceName, string>> = { identity: 'OPERATOR', catalog: 'FEED' };

const defaults: Readonly<Record<ServiceName, string>> = {
  identity: '127.0.0.1:7201',
  catalog: '127.0.0.1:7301',
};

export interface AddressSources {
  /** From --identity and --catalog. */
  readonly flags: { readonly [K in ServiceName]?: string | undefined };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** From --stack. */
  readonly stackFile: string | undefined;
  readonly directory: string;
}

/** What the operator names wins over what is found. Throws a CliError for a bad address or stack file. */
export function findAddress(name: ServiceName, sources: AddressSources): Address {
  const variable = `PARTNERCTL_${name.toUpperCase()}`;
  const flag = sources.flags[name];
  if (flag) return parseAddress(flag, `--${name}`);
  const named = sources.environment[variable];
  if (named) return parseAddress(named, variable);
  if (sources.stackFile === undefined && !sources.environment.PARTNERCTL_STACK) {
    const own = fromServiceSettings(name, sources.environment);
    if (own) return own;
  }
  const found = fromStackFile(name, sources);
  return found ?? parseAddress(defaults[name], 'the default');
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
    'Write 127.0.0.1:7201, unix:/path or https://host:port.',
  );
}

/** Inside the service's container its environment is there too, as with `kubectl exec`. */
function fromServiceSettings(
  name: ServiceName,
  environment: AddressSources['environment'],
): Address | undefined {
  const prefix = settings[name];
  const [socket, port, host] = ['SOCKET', 'PORT', 'HOST'].map((part) => environment[`${prefix}_${part}`]);
  if (socket) return parseAddress(`unix:${socket}`, `${prefix}_SOCKET`);
  if ((!port && !host) || port === '0') return undefined;
  const target = host === undefined || /^(0\.0\.0\.0|::|)$/.test(host) ? '127.0.0.1' : host;
  const bracketed = target.includes(':') ? `[${target}]` : target;
  const isTls = environment[`${prefix}_TLS_CERT`] || environment[`${prefix}_TLS_CERT_FILE`];
  const address = `${bracketed}:${port || defaults[name].split(':')[1]}`;
  return parseAddress(isTls ? `https://${address}` : address, port ? `${prefix}_PORT` : `${prefix}_HOST`);
}

function fromStackFile(name: ServiceName, sources: AddressSources): Address | undefined {
  const named = sources.stackFile ?? sources.environment.PARTNERCTL_STACK;
  const path = named === undefined ? nearestStackFile(sources.directory) : resolve(sources.directory, named);
  const address = path && operatorAddresses(path)[name];
  if (path && address) return parseAddress(address, path);
  if (named === undefined) return undefined;
  throw usageError(`${path} does not say where the ${name} service listens for operators.`);
}

/** The stack's file in the directory or above it. */
function nearestStackFile(directory: string): string | undefined {
  const path = join(directory, '.run', 'stack.json');
  if (existsSync(path)) return path;
  const above = dirname(directory);
  return above === directory ? undefined : nearestStackFile(above);
}

function operatorAddresses(path: string): Partial<Record<ServiceName, string>> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw usageError(`${path} cannot be read.`);
  }
  try {
    const stack = JSON.parse(text) as { readonly operator?: Partial<Record<ServiceName, string>> };
    return stack.operator ?? {};
  } catch {
    throw usageError(`${path} is not valid JSON.`);
  }
}
