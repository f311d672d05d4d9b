// A --seed FILE: partners and users in the form of stack.json. Nothing of a bad file is loaded.
import { readFileSync } from 'node:fs';
import { apiAudience, isClientId } from '@course-exchange/rules/access-token';
import { foldEmail, isEmail } from '@course-exchange/rules/email';
import * as z from 'zod';
import { redirectUriProblem } from '../../services/identity/src/clients/client-registration.ts';
import { knownScopes } from '../../services/identity/src/clients/scope.ts';

const matching = (pattern: RegExp, expects: string) => z.string(expects).regex(pattern, expects);
// Postgres keeps any text but a NUL.
const text = matching(/^[^\0]+$/, 'must be some text');
const anyText = matching(/^[^\0]*$/, 'must be text').default('');
const eventsText = 'must be a whole number from 0 to 1000';
const flag = (preset: boolean) => z.boolean('must be true or false').default(preset);
const list = <T extends z.ZodType>(item: T, expects = 'must be a list') => z.array(item, expects);
const scopes: readonly string[] = knownScopes;
const scopesText = `must be a list out of ${scopes.join(', ')}`;
const clientIdText = `must be 1 to 64 of A-Z a-z 0-9 _ - and not "${apiAudience}"`;
const emailText = 'must be an e-mail address';
const uriText = 'must be a list of redirect URIs that R3 allows';

const redirectUri = z.string(uriText).superRefine((uri, context) => {
  const problem = redirectUriProblem(uri, 'test');
  if (problem !== undefined) context.addIssue(`${JSON.stringify(uri)}: ${problem}`);
});

const partner = z.object({
  name: text,
  clientId: z.string(clientIdText).refine((id) => isClientId(id) && id !== apiAudience, clientIdText),
  clientSecret: matching(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters'),
  redirectUris: z.tuple([redirectUri], redirectUri, uriText).readonly(),
  scopes: list(z.enum(scopes, scopesText), scopesText).min(1, scopesText).readonly(),
  active: flag(true),
});

const user = z.object({
  email: z.string(emailText).refine(isEmail, emailText),
  password: text,
  // Any name that other systems give; the operators' import is narrower.
  sub: matching(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters without spaces'),
  name: anyText,
  about: anyText,
  emailVerified: flag(true),
  disabled: flag(false),
  events: z.int(eventsText).min(0, eventsText).max(1_000, eventsText).optional(),
});

const seedFile = z.object(
  { partners: list(partner).default([]), users: list(user).default([]) },
  'It must hold one JSON object with "partners" and "users"',
);

export type Partner = z.infer<typeof partner>;
export type SeedUser = z.infer<typeof user>;

export interface SeedContent {
  readonly partners: readonly Partner[];
  readonly users: readonly SeedUser[];
}

/** A file that cannot be loaded: every mistake in it, one sentence each. */
export class SeedError extends Error {
  constructor(file: string, mistakes: readonly string[]) {
    super(`${file} cannot be loaded:\n${mistakes.map((mistake) => `    ${mistake}`).join('\n')}`);
  }
}

/** Reads `file`, or standard input where it is `-`. Throws a SeedError that names every mistake. */
export function readSeedFile(file: string): SeedContent {
  const { data, error } = seedFile.safeParse(parseJson(file));
  if (data === undefined) throw new SeedError(file, error.issues.map(sentenceOf));
  const { partners, users } = data;
  const values = {
    clientId: partners.map(({ clientId }) => clientId),
    sub: users.map(({ sub }) => sub),
    email: users.map(({ email }) => foldEmail(email)),
  };
  const repeated = Object.entries(values).filter(([, all]) => new Set(all).size < all.length);
  const mistakes = repeated.map(([field]) => `Each ${field} must stand once.`);
  if (mistakes.length > 0) throw new SeedError(file, mistakes);
  return { partners, users };
}

function parseJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'));
  } catch (error) {
    throw new SeedError(file, [
      error instanceof SyntaxError ? `It is not JSON: ${error.message}.` : 'It cannot be read.',
    ]);
  }
}

function sentenceOf({ path, message }: z.core.$ZodIssue): string {
  const sentence = message.endsWith('.') ? message : `${message}.`;
  return path.length === 0 ? sentence : `${z.core.toDotPath(path)} ${sentence}`;
}
