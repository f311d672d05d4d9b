// A --seed FILE: partners and users in the form of stack.json. Nothing of a bad file is loaded.
import { readFileSync } from 'node:fs';
import { apiAudience, isClientId } from '@course-exchange/rules/access-token';
import { isEmail } from '@course-exchange/rules/email';
import * as z from 'zod';
import { redirectUriProblem } from '../../services/identity/src/clients/client-registration.ts';
import { knownScopes } from '../../services/identity/src/clients/scope.ts';

// Postgres stores no NUL.
const text = z.string().regex(/^[^\0]+$/, 'must be text, and not empty');
const scopes: readonly string[] = knownScopes;
const anyText = z.string().regex(/^[^\0]*$/, 'must be text');
const clientIdText = `must be 1 to 64 of A-Z a-z 0-9 _ - and not "${apiAudience}"`;

const redirectUri = z.string().superRefine((uri, context) => {
  const problem = redirectUriProblem(uri, 'test');
  if (problem !== undefined) context.addIssue(`${JSON.stringify(uri)}: ${problem}`);
});

const partner = z.object({
  name: text,
  clientId: z.string().refine((id) => isClientId(id) && id !== apiAudience, clientIdText),
  clientSecret: z.string().regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters'),
  redirectUris: z.tuple([redirectUri], redirectUri).readonly(),
  scopes: z.array(z.enum(scopes)).min(1).readonly(),
  active: z.boolean().default(true),
});

const user = z.object({
  email: z.string().refine(isEmail, 'must be an e-mail address'),
  password: text,
  // Wider than the operators' import: any name that another system gives.
  sub: z.string().regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters without spaces'),
  name: anyText.default(''),
  about: anyText.default(''),
  emailVerified: z.boolean().default(true),
  disabled: z.boolean().default(false),
  events: z.int().min(0).max(1_000).optional(),
});

/** Refuses a second item with the same `key`: it would replace the first without a word. */
const distinct = (key: string) => (items: readonly object[]) =>
  new Set(items.map((item) => (item as Record<string, unknown>)[key])).size === items.length;

const seedFile = z.object({
  partners: z.array(partner).refine(distinct('clientId'), 'a clientId comes twice').default([]),
  users: z
    .array(user)
    .refine(distinct('sub'), 'a sub comes twice')
    .refine(distinct('email'), 'an e-mail address comes twice')
    .default([]),
});

export type Partner = Readonly<z.infer<typeof partner>>;
export type SeedUser = Readonly<z.infer<typeof user>>;

export interface SeedContent {
  readonly partners: readonly Partner[];
  readonly users: readonly SeedUser[];
}

/** Reads `file`, or standard input where it is `-`. Throws one error that names every mistake. */
export function readSeedFile(file: string): SeedContent {
  const { data, error } = seedFile.safeParse(parseJson(file));
  if (error) throw new Error(`${file} cannot be loaded:\n${z.prettifyError(error)}`);
  return data;
}

function parseJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'));
  } catch (cause) {
    throw new Error(`${file} cannot be loaded: ${(cause as Error).message}`, { cause });
  }
}
