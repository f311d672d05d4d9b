// The ACL user of Redis that docs/settings.md shows to operators, so that tests show that it is enough.
import { section } from '../docs/documents.ts';

/** Words of ACL SETUSER: the name, then the rules. */
export function documentedUser(password: string): string[] {
  return userOf(0, password);
}

/** The same for the Sentinels. */
export function documentedSentinelUser(password: string): string[] {
  return userOf(1, password);
}

function userOf(block: number, password: string): string[] {
  const [indented = ''] = [...page().matchAll(/(?:^ {4}.*\n?)+/gm)][block] ?? [];
  const words = indented.split(/\s+/).filter((word) => word !== '');
  return words.slice(2).map((word) => (word === '>password' ? `>${password}` : word));
}

/** The same in a Cluster. */
export function documentedClusterUser(password: string): string[] {
  const [, more = ''] = /in a Cluster also `([^`]*)`/.exec(page()) ?? [];
  return [...documentedUser(password), ...more.split(/\s+/)];
}

function page(): string {
  return section('docs/settings.md', '## How identity reaches Redis');
}
