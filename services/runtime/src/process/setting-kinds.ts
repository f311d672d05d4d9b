// Kinds of settings. `expects` ends the sentence "expected …".
import * as z from 'zod';
import { Secret } from './secret.ts';

function kind<T>(expects: string, parse: (raw: string) => T | undefined) {
  return z
    .string()
    .transform((raw, context) => {
      const value = parse(raw);
      if (value !== undefined) return value;
      context.addIssue({ code: 'custom' });
      return z.NEVER;
    })
    .meta({ expects });
}

export function text(expects = 'some text', matches: (raw: string) => boolean = () => true) {
  return kind(expects, (raw) => (matches(raw) ? raw : undefined));
}

export function integer(min: number, max: number, expects = `a whole number from ${min} to ${max}`) {
  return kind(expects, (raw) => {
    const value = Number(raw);
    return /^\d+$/.test(raw) && value >= min && value <= max ? value : undefined;
  });
}

export function port() {
  return integer(0, 65_535, 'a port number (0 lets the system choose)');
}

export function flag() {
  return kind('true or false', (raw) => ({ true: true, false: false })[raw]);
}

/** In any case: other programs write `INFO`. */
export function choice<const T extends string>(options: readonly T[]) {
  return kind(`one of ${options.join(', ')}`, (raw) =>
    options.find((option) => option.toLowerCase() === raw.toLowerCase()),
  );
}

/** Comma-separated texts for which `matches` holds; `expects` describes one. */
export function list(expects: string, matches: (item: string) => boolean) {
  return kind(`a comma-separated list, each item ${expects}`, (raw) => {
    const items = raw.split(',').map((item) => item.trim());
    return items.every(matches) ? (items as readonly string[]) : undefined;
  });
}

/** A URL of one of the `protocols` (`https:`), as written. */
export function url(protocols: readonly string[]) {
  return text(
    `a URL starting with ${protocols.join(' or ')}`,
    (raw) => URL.canParse(raw) && protocols.includes(new URL(raw).protocol),
  );
}

/** Without path and trailing slash. */
export function origin() {
  return text(
    'an origin such as https://exchange.example, without path or trailing slash',
    (raw) => /^https?:\/\//.test(raw) && URL.canParse(raw) && new URL(raw).origin === raw,
  );
}

export function ratio() {
  return kind('a number from 0 to 1', (raw) =>
    /^(0(\.\d+)?|1(\.0+)?)$/.test(raw) ? Number(raw) : undefined,
  );
}

/** Belongs in a secret store and never in a log. */
export function secret(expects = 'some text', matches: (raw: string) => boolean = () => true) {
  return kind(expects, (raw) => (matches(raw) ? new Secret(raw) : undefined)).meta({ expects, secret: true });
}

export function secretUrl(protocols: readonly string[]) {
  const { expects } = url(protocols).meta() as { expects: string };
  return secret(expects, (raw) => url(protocols).safeParse(raw).success);
}

/** `length` secret bytes. */
export function secretBytes(length: number) {
  const expects = `${length} bytes as base64 or base64url`;
  return kind(expects, (raw) => {
    const bytes = Buffer.from(raw, 'base64url');
    return bytes.length === length ? new Secret(bytes) : undefined;
  }).meta({ expects, secret: true });
}
