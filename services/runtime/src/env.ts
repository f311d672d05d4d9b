// Reads a process's configuration once and validates it whole: every mistake is reported together, each
// naming the variable and what is expected. A value may stand in a file: NAME_FILE instead of NAME.
import { readFileSync } from 'node:fs';

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

/** What several variables must be together. Judged when each of them is right by itself. */
export interface Rule {
  readonly of: readonly string[];
  /** One sentence for each mistake; it quotes no value. */
  readonly mistakes: (values: Readonly<Record<string, unknown>>) => readonly string[];
}

/** A rule on the variables `of` of `settings`; `mistakes` is given their values. */
export function ruleOn<S extends Settings, K extends keyof S & string>(
  _settings: S,
  of: readonly K[],
  mistakes: (values: Pick<SettingValues<S>, K>) => readonly string[],
): Rule {
  return { of, mistakes: (values) => mistakes(values as Pick<SettingValues<S>, K>) };
}

/** Reads `settings` from `source`. Throws one ConfigurationError that lists every mistake, those of `rules` too. */
export function readSettings<S extends Settings>(
  settings: S,
  source: Readonly<Record<string, string | undefined>> = process.env,
  rules: readonly Rule[] = [],
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
  for (const rule of rules)
    if (rule.of.every((name) => name in values)) mistakes.push(...rule.mistakes(values));
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
