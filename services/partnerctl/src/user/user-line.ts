// One line of an NDJSON file of users becomes a record for the service, or a sentence that says why not. No user may
// occur twice in a file, however far apart.
import { hash } from 'node:crypto';
import { foldEmail } from '@course-exchange/rules/email';
import * as z from 'zod';
import { readLine, text } from '../files/ndjson.ts';

const shape = {
  sub: text,
  email: text,
  name: text,
  passwordHash: text,
  emailVerified: z.boolean({ error: 'is neither true, false nor null.' }).nullish(),
};
const userLine = z.strictObject(shape, {
  error: ({ code }) =>
    code === 'unrecognized_keys'
      ? `A field is unknown; known are ${Object.keys(shape).join(', ')}.`
      : undefined,
});

export type UserRecord = ReturnType<typeof userRecord>;

/** The line holds a password hash: a reason does not even quote the name of an unknown field. */
export function readUserLine(content: string | undefined, line: number) {
  const read = readLine(userLine, content);
  return read.reason === undefined ? { user: userRecord(read.value, line) } : { reason: read.reason };
}

function userRecord(fields: z.output<typeof userLine>, line: number) {
  const { sub, email, emailVerified, name, passwordHash } = fields;
  return {
    line: BigInt(line),
    sub: sub ?? '',
    email: email ?? '',
    emailVerified: emailVerified === true,
    name: name ?? '',
    passwordHash: passwordHash ?? '',
  };
}

/**
 * Returns a function that gives the earlier line that names the same user, and otherwise remembers the user with this
 * line. Keeps 16 bytes of a hash for each name: a file has millions of them.
 */
export function openSeenUsers() {
  const lines = new Map<string, number>();
  return (user: UserRecord, line: number): number | undefined => {
    const names = namesOf(user);
    const known = names.map((name) => lines.get(name)).find((one) => one !== undefined);
    if (known === undefined) for (const name of names) lines.set(name, line);
    return known;
  };
}

function namesOf({ sub, email }: UserRecord): string[] {
  const names = [...(sub ? [`sub ${sub}`] : []), ...(email ? [`email ${foldEmail(email)}`] : [])];
  return names.map((name) => hash('sha256', name, 'buffer').toString('latin1', 0, 16));
}
