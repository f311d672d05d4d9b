// Where the two services listen: what the operator says, else what the local stack's file says, else loopback.
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { usageProblem } from '../frame/problem.ts';

export type ServiceName = 'identity' | 'catalog';

export interface Address {
  /** `http://…` or `https://…`. */
  readonly url: string;
  /** Path of the Unix socket to connect to in the place of the URL's host. */
  readonly socket?: string;
  /** For people: the address and where it came from. */
  readonly said: string;
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

/** What is said wins over what is found. Throws a Problem for an address or stack file that is none. */
export function findAddress(name: ServiceName, sources: AddressSources): Address {
  const variable = `PARTNERCTL_${name.toUpperCase()}`;
  const flag = sources.flags[name];
  if (flag) return parseAddress(flag, `--${name}`);
  const named = sources.environment[variable];
  if (named) return parseAddress(named, variable);
  if (sources.stackFile === undefined && !sources.environment.PARTNERCTL_STACK) {
    const own = fromOwnSettings(name, sources.environment);
    if (own) return own;
  }
  const found = fromStackFile(name, sources);
  return found ?? parseAddress(defaults[name], 'the default');
}

/** `host:port`, `unix:/path` or `https://host:port`. */
export function parseAddress(words: string, source: string): Address {
  const said = `${words} (${source})`;
  const path = /^unix:(\/.+)$/.exec(words)?.[1];
  if (path !== undefined) return { url: 'http://localhost', socket: path, said };
  if (/^https:\/\/[^/]+$/.test(words) && URL.canParse(words)) return { url: words, said };
  const plain = /^[^/:\s]+:\d{1,5}$|^\[[0-9a-f:]+\]:\d{1,5}$/i.test(words);
  if (plain && !/:0+$/.test(words) && URL.canParse(`http://${words}`))
    return { url: `http://${words}`, said };
  throw usageProblem(
    `${source}: ${words} is no address.`,
    'Write 127.0.0.1:7201, unix:/path or https://host:port.',
  );
}

/** Inside the service's container its environment is there too, as with `kubectl exec`. */
function fromOwnSettings(name: ServiceName, environment: AddressSources['environment']): Address | undefined {
  const prefix = settings[name];
  const socket = environment[`${prefix}_SOCKET`];
  if (socket) return parseAddress(`unix:${socket}`, `${prefix}_SOCKET`);
  const [port, host] = [environment[`${prefix}_PORT`], environment[`${prefix}_HOST`]];
  if ((!port && !host) || port === '0') return undefined;
  const reached = host === undefined || /^(0\.0\.0\.0|::|)$/.test(host) ? '127.0.0.1' : host;
  const written = reached.includes(':') ? `[${reached}]` : reached;
  const scheme =
    environment[`${prefix}_TLS_CERT`] || environment[`${prefix}_TLS_CERT_FILE`] ? 'https://' : '';
  const [, standard = ''] = defaults[name].split(':');
  return parseAddress(`${scheme}${written}:${port || standard}`, port ? `${prefix}_PORT` : `${prefix}_HOST`);
}

function fromStackFile(name: ServiceName, sources: AddressSources): Address | undefined {
  const said = sources.stackFile ?? sources.environment.PARTNERCTL_STACK;
  const path = said === undefined ? nearestStackFile(sources.directory) : resolve(sources.directory, said);
  if (path === undefined) return undefined;
  const address = operatorAddresses(path)[name];
  if (address) return parseAddress(address, path);
  if (said === undefined) return undefined;
  throw usageProblem(`${path} does not say where the ${name} service listens for operators.`);
}

/** The stack's file in the directory or above it. */
function nearestStackFile(directory: string): string | undefined {
  const path = join(directory, '.run', 'stack.json');
  if (readText(path) !== undefined) return path;
  const above = dirname(directory);
  return above === directory ? undefined : nearestStackFile(above);
}

function operatorAddresses(path: string): Partial<Record<ServiceName, string>> {
  const text = readText(path);
  if (text === undefined) throw usageProblem(`${path} cannot be read.`);
  try {
    const stack = JSON.parse(text) as { readonly operator?: Partial<Record<ServiceName, string>> };
    return stack.operator ?? {};
  } catch {
    throw usageProblem(`${path} is no JSON.`);
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
