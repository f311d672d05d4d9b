// What a stack file says about a deployment: address, demo credentials and, where it is ours, the stores.
import { readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import type { Partner, SeedUser } from '@course-exchange/local-stack/seed-file';
import type { StackFile as LocalStackFile } from '@course-exchange/local-stack/stack-file';

/** The demo users' `about` holds the words by which tests find the user that they need. */
export type DemoUser = Omit<SeedUser, 'emailVerified' | 'disabled'> & Partial<SeedUser>;
export type { Partner };

/** A deployment that is not ours names no stores and no processes. */
export type StackFile = Pick<LocalStackFile, 'issuer' | 'partners'> & {
  readonly users: readonly DemoUser[];
} & Partial<
    Pick<LocalStackFile, 'postgres' | 'redis' | 'processes' | 'addresses' | 'operator' | 'demoPartner'>
  >;

/** What a test needs and the stack file does not name. */
export class NotGiven extends Error {}

/** Reads a stack file. A partner is active and a user `about` nothing where the file does not say. */
export function readStackFile(path: string): StackFile {
  const stack = JSON.parse(readFileSync(path, 'utf8')) as StackFile;
  const partners = stack.partners.map((partner) => ({ ...partner, active: partner.active ?? true }));
  const users = stack.users.map((user) => ({ ...user, about: user.about ?? '' }));
  return { ...stack, partners, users };
}

export function userWho(stack: StackFile, about: string): DemoUser {
  const user = stack.users.find((candidate) => candidate.about.includes(about));
  if (!user) throw new NotGiven(`The stack file names no user whose "about" contains "${about}".`);
  return user;
}

/** The user of tests that need no special one: the demo data's, else the first who can log in with a verified e-mail. */
export function typicalUser(stack: StackFile): DemoUser {
  const plain = ({ disabled, emailVerified }: DemoUser) => disabled !== true && emailVerified !== false;
  const user = stack.users.find(({ about }) => about.includes('typical season')) ?? stack.users.find(plain);
  if (!user) throw new NotGiven('The stack file names no user who can log in and whose e-mail is verified.');
  return user;
}

/** The first active partner approved for exactly these scopes. */
export function partnerFor(stack: StackFile, ...scopes: readonly string[]): Partner {
  const [partner] = partnersFor(stack, ...scopes);
  if (!partner)
    throw new NotGiven(`The stack file names no active partner with the scopes ${scopes.join(' ')}.`);
  return partner;
}

/** Every active partner approved for exactly these scopes. */
export function partnersFor(stack: StackFile, ...scopes: readonly string[]): readonly Partner[] {
  const wanted = [...scopes].sort().join(' ');
  return stack.partners.filter(
    (partner) => partner.active && [...partner.scopes].sort().join(' ') === wanted,
  );
}

/** The path of the given deployment's file, else of that of a worker's private stack, by default this worker's. */
export function stackFile(worker = Number(process.env.VITEST_POOL_ID)): string {
  const { STACK_FILE, STACK_FILES = '' } = process.env;
  const path = STACK_FILE ?? STACK_FILES.split(delimiter)[worker - 1];
  if (!path) throw new Error('STACK_FILE is missing: no deployment is named.');
  return path;
}

export function runningStack(): StackFile {
  return readStackFile(stackFile());
}
