// The users whom a batch of the import names, by sub and by e-mail address.
import { emailKey } from '@course-exchange/rules/email';
import type { KnownUser } from './user.ts';

export interface KnownUsers {
  readonly bySub: Map<string, KnownUser>;
  /** By key. An earlier version let several users have one address, in different spellings. */
  readonly byEmail: Map<string, KnownUser[]>;
  /** Subs of those whom an earlier record means. */
  readonly decided: Set<string>;
}

export function indexUsers(users: readonly KnownUser[]): KnownUsers {
  const known: KnownUsers = { bySub: new Map(), byEmail: new Map(), decided: new Set() };
  for (const user of users) addKnown(known, user);
  return known;
}

/** As an earlier record leaves it. */
export function decideUser(known: KnownUsers, user: KnownUser): void {
  known.decided.add(user.sub);
  addKnown(known, user);
}

function addKnown({ bySub, byEmail }: KnownUsers, user: KnownUser): void {
  const key = emailKey(user.email);
  const others = (byEmail.get(key) ?? []).filter(({ sub }) => sub !== user.sub);
  bySub.set(user.sub, user);
  byEmail.set(key, [...others, user]);
}

/** Whom a record means, whether an earlier one does, and whether its address is another's. An empty sub: the user of the address. */
export function findKnown(
  { sub, email }: { readonly sub: string; readonly email: string },
  { bySub, byEmail, decided }: KnownUsers,
) {
  const sameEmail = byEmail.get(emailKey(email)) ?? [];
  const isMeant = (user: KnownUser) => sameEmail.length === 1 || user.email === email;
  const before = sub === '' ? sameEmail.find(isMeant) : bySub.get(sub);
  const others = sameEmail.some((other) => other.sub !== before?.sub);
  // A user who shares an address keeps its spelling.
  const takesEmail = others && before?.email !== email;
  return { before, isDecided: before !== undefined && decided.has(before.sub), takesEmail };
}
