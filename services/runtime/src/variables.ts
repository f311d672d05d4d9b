// Kinds of variables: what a value of each must look like, and how it is read.
import type { Variable } from './env.ts';
import { Secret } from './secret.ts';

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

/** A scheme, a host and an optional port: no path, no trailing slash. */
export function origin(about: string): Variable<string> {
  return {
    about,
    expects: 'an origin such as https://exchange.example, without path or trailing slash',
    parse: (raw) => {
      const valid = /^https?:\/\//.test(raw) && URL.canParse(raw) && new URL(raw).origin === raw;
      return valid ? raw : undefined;
    },
  };
}

export function ratio(about: string): Variable<number> {
  return {
    about,
    expects: 'a number from 0 to 1',
    parse: (raw) => (/^(0(\.\d+)?|1(\.0+)?)$/.test(raw) ? Number(raw) : undefined),
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
