// Every clause by number: the one list that the run compares the tests with.
import type { ClauseSection } from './clause.ts';
import { authorizationRulings } from './rulings-01-06.ts';
import { tokenRulings } from './rulings-07-14.ts';
import { keyRulings, resourceRulings } from './rulings-15-24.ts';
import { everywhereRulings } from './rulings-25-31.ts';
import { lifecycle, purpose, resources } from './specification-1-3.ts';
import { endpoints } from './specification-4.ts';
import { authentication, eventsAndErrors, limits } from './specification-5-9.ts';

export const sections: readonly ClauseSection[] = [
  purpose,
  resources,
  lifecycle,
  endpoints,
  authentication,
  eventsAndErrors,
  limits,
  authorizationRulings,
  tokenRulings,
  keyRulings,
  resourceRulings,
  everywhereRulings,
];

/** Clauses that the contract suite alone proves against any address. */
export const outsideClauses: ReadonlyMap<string, string> = new Map(
  sections.flatMap((section) => Object.entries(section.outside)),
);

/** All clauses. */
export const clauses: ReadonlyMap<string, string> = new Map(
  sections.flatMap((section) => [...Object.entries(section.outside), ...Object.entries(section.inside)]),
);
