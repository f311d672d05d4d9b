// Reads a process's configuration once and validates it whole: every mistake is reported together, each
// naming the variable and what is expected. A value may stand in a file: NAME_FILE instead of NAME.
import { readFileSync } from 'node:fs';
import { Secret } from './secret.ts';

/** One variable: how it is described, read, and what it is when absent. */
export interface Variable<T> {
  /** What a valid value is, as the end of the sentence "expected …". */
  readonly expects: string;
  /** What the variable is for; the settings table in the docs shows it. */
  readonly about: string;
  /** Value when the variable is absent or empty. Without it the variable is required. */
  readonly fallback?: { readonly value: T };
  /** The value opens something: it belongs into a secret store and never into a log. */
  readonly secret?: true;
  /** Returns the value, or `undefined` when `raw` is not valid. */
  readonly parse: (raw: string) => T | undefined;
}

export type Settings = Readonly<Record<string, Variable<unknown>>>;
export type SettingValues<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Variable<infer T> ? T : never;
};

/** All mistakes of one configuration, one sentence a line. Never quotes a value: it may be a secret. */
export class ConfigurationError extends Error {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(`configuration:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`);
    this.name = 'ConfigurationError';
    this.mistakes = mistakes;
  }
}

/** Reads `settings` from `source`. Throws one ConfigurationError that lists every mistake. */
export function readSettings<S extends Settings>(
  settings: S,
  source: Readonly<Record<string, string | undefined>> = process.env,
): SettingValues<S> {
  const mistakes: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries(settings)) {
    try {
      values[name] = readVariable(name, variable, source);
    } catch (mistake) {
      mistakes.push(mistake instanceof Error ? mistake.message : String(mistake));
    }
  }
  if (mistakes.length > 0) throw new ConfigurationError(mistakes);
  return values as SettingValues<S>;
}

function readVariable(
  name: string,
  variable: Variable<unknown>,
  source: Readonly<Record<string, string | undefined>>,
): unknown {
  const raw = readRaw(name, source);
  if (raw === undefined || raw === '') {
    if (variable.fallback) return variable.fallback.value;
    throw new Error(`${name} is missing: expected ${variable.expects}`);
  }
  const value = variable.parse(raw);
  if (value === undefined) throw new Error(`${name} is not valid: expected ${variable.expects}`);
  return value;
}

function readRaw(name: string, source: Readonly<Record<string, string | undefined>>): string | undefined {
  const file = source[`${name}_FILE`];
  if (!file) return source[name];
  if (source[name]) throw new Error(`${name} and ${name}_FILE are both set: expected one of them`);
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch {
    throw new Error(`${name}_FILE cannot be read: expected the path of a readable file`);
  }
}

/** Gives `variable` a value for when it is absent. */
export function optional<T>(variable: Variable<T>, value: T): Variable<T> {
  return { ...variable, fallback: { value } };
}

/** Makes `variable` undefined when it is absent. */
export function maybe<T>(variable: Variable<T>): Variable<T | undefined> {
  return { ...variable, fallback: { value: undefined } };
}

export function text(about: string, expects = 'some text'): Variable<string> {
  return { about, expects, parse: (raw) => raw };
}

export function integer(about: string, min: number, max: number): Variable<number> {
  return {
    about,
    expects: `a whole number from ${min} to ${max}`,
    parse: (raw) => {
      const value = Number(raw);
      return /^\d+$/.test(raw) && value >= min && value <= max ? value : undefined;
    },
  };
}

export function port(about: string): Variable<number> {
  return { ...integer(about, 0, 65535), expects: 'a port number (0 lets the system choose)' };
}

export function flag(about: string): Variable<boolean> {
  return {
    about,
    expects: 'true or false',
    parse: (raw) => (raw === 'true' ? true : raw === 'false' ? false : undefined),
  };
}

export function choice<const T extends string>(about: string, options: readonly T[]): Variable<T> {
  return {
    about,
    expects: `one of ${options.join(', ')}`,
    parse: (raw) => options.find((option) => option === raw),
  };
}

/** Comma-separated values, each valid by `item`. */
export function list<T>(item: Variable<T>): Variable<readonly T[]> {
  return {
    about: item.about,
    expects: `a comma-separated list, each item ${item.expects}`,
    parse: (raw) => {
      const values = raw.split(',').map((part) => item.parse(part.trim()));
      return values.every((value) => value !== undefined) ? (values as T[]) : undefined;
    },
  };
}

/** A URL of one of the `protocols` (`https:`), as it was written. */
export function url(about: string, protocols: readonly string[]): Variable<string> {
  return {
    about,
    expects: `a URL starting with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    parse: (raw) => (URL.canParse(raw) && protocols.includes(new URL(raw).protocol) ? raw : undefined),
  };
}

export function secret(variable: Variable<string>): Variable<Secret<string>> {
  const { about, expects, parse } = variable;
  return {
    about,
    expects,
    secret: true,
    parse: (raw) => {
      const value = parse(raw);
      return value === undefined ? undefined : new Secret(value);
    },
  };
}

/** Exactly `length` secret bytes, written as base64 or base64url. */
export function secretBytes(about: string, length: number): Variable<Secret<Buffer>> {
  return {
    about,
    expects: `${length} bytes as base64 or base64url`,
    secret: true,
    parse: (raw) => {
      const bytes = Buffer.from(raw, 'base64url');
      return bytes.length === length ? new Secret(bytes) : undefined;
    },
  };
}
