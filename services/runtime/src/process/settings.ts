// The configuration of a process, from the environment. Mistakes are reported together, never by value. NAME_FILE
// names a file that holds NAME.
import { readFileSync } from 'node:fs';
import * as z from 'zod';

/** `.describe()` says what a setting is for, `.default()` or `.optional()` that it may be absent. */
export type Settings = Readonly<Record<string, z.ZodType<unknown, string | undefined>>>;
export type SettingValues<S extends Settings> = { readonly [K in keyof S]: z.output<S[K]> };
export type SettingSource = Readonly<Record<string, string | undefined>>;

/** One sentence per mistake. Quotes no value: it may be a secret. */
export class ConfigurationError extends Error {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(`configuration:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`);
    this.name = 'ConfigurationError';
    this.mistakes = mistakes;
  }
}

/** A mistake, and whether it was made. */
export interface Condition {
  readonly bad: boolean;
  readonly message: string;
}

export function messagesOf(conditions: readonly Condition[]): readonly string[] {
  return conditions.flatMap(({ bad, message }) => (bad ? message : []));
}

/** Evaluated when all settings `of` are valid. */
export interface Rule {
  readonly of: readonly string[];
  /** Quote no value. */
  readonly mistakes: (values: Readonly<Record<string, unknown>>) => readonly string[];
}

export function ruleOn<S extends Settings, K extends keyof S & string>(
  _settings: S,
  of: readonly K[],
  mistakes: (values: Pick<SettingValues<S>, K>) => readonly string[],
): Rule {
  return { of, mistakes: (values) => mistakes(values as Pick<SettingValues<S>, K>) };
}

/** Throws one ConfigurationError with every mistake. */
export function readSettings<S extends Settings>(
  settings: S,
  source: SettingSource = process.env,
  rules: readonly Rule[] = [],
): SettingValues<S> {
  const mistakes: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    try {
      values[name] = readSetting(name, setting, source);
    } catch (mistake) {
      mistakes.push(mistake instanceof Error ? mistake.message : String(mistake));
    }
  }
  for (const rule of rules)
    if (rule.of.every((name) => name in values)) mistakes.push(...rule.mistakes(values));
  if (mistakes.length > 0) throw new ConfigurationError(mistakes);
  return values as SettingValues<S>;
}

function readSetting(name: string, setting: Settings[string], source: SettingSource): unknown {
  const raw = readRaw(name, source) || undefined;
  const result = setting.safeParse(raw);
  if (result.success) return result.data;
  const problem = raw === undefined ? 'is missing' : 'is not valid';
  throw new Error(`${name} ${problem}: expected ${documentationOf(setting).expects}`);
}

function readRaw(name: string, source: SettingSource): string | undefined {
  const file = source[`${name}_FILE`];
  if (!file) return source[name];
  if (source[name]) throw new Error(`${name} and ${name}_FILE are both set: expected one of them`);
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch {
    throw new Error(`${name}_FILE cannot be read: expected the path of a readable file`);
  }
}

export type SettingDocumentation = ReturnType<typeof documentationOf>;

export function documentationOf(setting: Settings[string]) {
  // `.default()` and `.optional()` wrap a kind.
  const kind =
    setting instanceof z.ZodDefault || setting instanceof z.ZodOptional ? setting.unwrap() : setting;
  const said = { ...(kind as z.ZodType).meta(), ...setting.meta() };
  const absent = setting.safeParse(undefined);
  return {
    about: said.description ?? '',
    expects: String(said.expects),
    secret: said.secret === true,
    required: !absent.success,
    fallback: absent.data,
  };
}
