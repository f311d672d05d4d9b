// Which users the lines of a file name, so that no user stands in it twice, however far apart.
import { hash } from 'node:crypto';
import type { UserRecord } from './user-line.ts';

export interface NamedUsers {
  /** The earlier line that names the same user; otherwise undefined, and the user is remembered with this line. */
  readonly earlier: (user: UserRecord, line: number) => number | undefined;
}

/** Keeps 16 bytes of a hash for each name: a file has millions of them. */
export function openNamedUsers(): NamedUsers {
  const lines = new Map<string, number>();
  return {
    earlier: (user, line) => {
      const names = namesOf(user);
      const known = names.map((name) => lines.get(name)).find((one) => one !== undefined);
      if (known === undefined) for (const name of names) lines.set(name, line);
      return known;
    },
  };
}

function namesOf({ sub = '', email = '' }: UserRecord): string[] {
  const names = [...(sub ? [`sub ${sub}`] : []), ...(email ? [`email ${fold(email)}`] : [])];
  return names.map((name) => hash('sha256', name, 'buffer').toString('latin1', 0, 16));
}

/** As identity tells addresses apart: letter by letter, one letter for one. */
function fold(email: string): string {
  return Array.from(email, (letter) => Array.from(letter.toLowerCase())[0] ?? '').join('');
}
