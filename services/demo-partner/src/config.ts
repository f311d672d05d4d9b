// The settings of the demo partner, with the operator's handover (specification §1): issuer, client identifier, client
// secret, scopes. PUBLIC_URL + /callback is the registered redirect URI.
import { readFileSync } from 'node:fs';
import * as z from 'zod';

/** Without the value, which may be a secret. */
function expected(what: string) {
  return (issue: { readonly input: unknown }) =>
    issue.input === undefined ? `is missing: expected ${what}` : `is not valid: expected ${what}`;
}

const text = z.string({ error: expected('some text') });
const level = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['debug', 'info', 'warn', 'error'], { error: expected('one of debug, info, warn, error') }));
const flag = z.enum(['true', 'false'], { error: expected('true or false') });

function integer(max: number, what: string) {
  return z
    .string()
    .regex(/^\d+$/, { error: expected(what) })
    .transform(Number)
    .refine((value) => value <= max, { error: expected(what) });
}
const port = integer(65_535, 'a port number (0 lets the system choose)');

/** The only hosts for http without TLS. */
export function isLoopbackHttp(url: URL): boolean {
  return url.protocol === 'http:' && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
}

const originText = 'an https origin without path (http for a loopback address only)';
const origin = z.string({ error: expected(originText) }).refine(isOrigin, { error: expected(originText) });

function isOrigin(raw: string): boolean {
  if (!URL.canParse(raw)) return false;
  const url = new URL(raw);
  return url.origin === raw && (url.protocol === 'https:' || isLoopbackHttp(url));
}

const keyText = '32 bytes as base64 or base64url';
const key = z
  .string({ error: expected(keyText) })
  .transform((raw) => Buffer.from(raw, 'base64url'))
  .refine((bytes) => bytes.length === 32, { error: expected(keyText) });

const settings = z.object({
  PUBLIC_URL: origin,
  ISSUER: origin,
  CLIENT_ID: text,
  CLIENT_SECRET: text,
  SCOPES: text.default('openid email profile'),
  TOKEN_ENCRYPTION_KEY: key,
  DATABASE_FILE: text,
  HTTP_HOST: text.default('127.0.0.1'),
  HTTP_PORT: port.default(0),
  HEALTH_HOST: text.default('127.0.0.1'),
  HEALTH_PORT: port.default(0),
  LOG_LEVEL: level.default('info'),
  SHUTDOWN_DELAY_MS: integer(60_000, 'a whole number from 0 to 60000').default(0),
  STOP_WITH_PARENT: flag.default('false').transform((value) => value === 'true'),
});

export const settingNames = Object.keys(settings.shape);
export type Config = z.infer<typeof settings>;
/** The settings of the registered client. */
export type Registration = Pick<
  Config,
  'ISSUER' | 'CLIENT_ID' | 'CLIENT_SECRET' | 'SCOPES' | 'PUBLIC_URL' | 'TOKEN_ENCRYPTION_KEY'
>;
type Environment = Readonly<Record<string, string | undefined>>;

/** Throws one error with a line per problem. */
export function readConfig(environment: Environment): Config {
  const values: Record<string, string> = {};
  const problems = new Map<string, string>();
  for (const name of settingNames) {
    try {
      const value = readSetting(name, environment);
      if (value) values[name] = value;
    } catch (error) {
      problems.set(name, error instanceof Error ? error.message : String(error));
    }
  }
  const { data, error } = settings.safeParse(values);
  for (const { path, message } of error?.issues ?? []) {
    const name = String(path[0]);
    if (!problems.has(name)) problems.set(name, `${name} ${message}`);
  }
  if (data && problems.size === 0) return data;
  throw new Error(['configuration:', ...problems.values()].join('\n  '));
}

function readSetting(name: string, environment: Environment): string | undefined {
  const file = environment[`${name}_FILE`];
  if (!file) return environment[name];
  if (environment[name]) throw new Error(`${name} and ${name}_FILE are both set: expected one of them`);
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch {
    throw new Error(`${name}_FILE cannot be read: expected the path of a readable file`);
  }
}
