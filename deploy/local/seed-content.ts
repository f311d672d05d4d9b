// Reads a --seed FILE: every mistake in it is told, and nothing of a bad file is loaded.
import { readFileSync } from 'node:fs';
import { type Field, partnerFields, personFields } from './seed-fields.ts';
import type { Partner, Person } from './seed-form.ts';

export interface SeedContent {
  readonly partners: readonly Partner[];
  readonly people: readonly Person[];
}

/** A file that cannot be loaded: every mistake in it, one sentence each. */
export class SeedError extends Error {
  constructor(file: string, mistakes: readonly string[]) {
    super(`${file} cannot be loaded:\n${mistakes.map((mistake) => `    ${mistake}`).join('\n')}`);
  }
}

/** Reads `file`; nothing is loaded yet. Throws a SeedError that names every mistake. */
export function readSeedFile(file: string): SeedContent {
  const whole = parse(file);
  const mistakes: string[] = [];
  const partners = items(whole, 'partners', mistakes).map((item, index) =>
    readItem<Partner>(item, `partners[${index}]`, partnerFields, mistakes),
  );
  const people = items(whole, 'users', mistakes).map((item, index) =>
    readItem<Person>(item, `users[${index}]`, personFields, mistakes),
  );
  reportRepeated(
    'clientId',
    partners.map(({ clientId }) => clientId),
    mistakes,
  );
  reportRepeated(
    'sub',
    people.map(({ sub }) => sub),
    mistakes,
  );
  reportRepeated(
    'email',
    people.map(({ email }) => String(email).toLowerCase()),
    mistakes,
  );
  if (mistakes.length > 0) throw new SeedError(file, mistakes);
  return { partners, people };
}

function parse(file: string): Readonly<Record<string, unknown>> {
  try {
    const whole: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof whole === 'object' && whole !== null && !Array.isArray(whole))
      return whole as Record<string, unknown>;
    throw new SeedError(file, ['It must hold one JSON object with "partners" and "users".']);
  } catch (error) {
    if (error instanceof SyntaxError) throw new SeedError(file, [`It is not JSON: ${error.message}.`]);
    if (error instanceof SeedError) throw error;
    throw new SeedError(file, ['It cannot be read.']);
  }
}

function items(
  whole: Readonly<Record<string, unknown>>,
  name: string,
  mistakes: string[],
): readonly unknown[] {
  const value = whole[name] ?? [];
  if (Array.isArray(value)) return value;
  mistakes.push(`"${name}" must be a list.`);
  return [];
}

function readItem<T>(
  item: unknown,
  where: string,
  fields: Readonly<Record<string, Field>>,
  mistakes: string[],
): T {
  if (typeof item !== 'object' || item === null) {
    mistakes.push(`${where} must be an object.`);
    return {} as T;
  }
  const given = item as Readonly<Record<string, unknown>>;
  const read = Object.entries(fields).map(([name, { expects, valid, details, fallback }]) => {
    const value = given[name] ?? fallback;
    if (!valid(value))
      mistakes.push([`${where}.${name} must be ${expects}.`, ...(details?.(value) ?? [])].join(' '));
    return [name, value];
  });
  return Object.fromEntries(read) as T;
}

function reportRepeated(field: string, values: readonly string[], mistakes: string[]): void {
  const repeated = values.filter((value, index) => value !== undefined && values.indexOf(value) !== index);
  if (repeated.length > 0) mistakes.push(`Each ${field} must stand once.`);
}
