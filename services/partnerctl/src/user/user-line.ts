// Turns a line of an NDJSON file of users into a record, or a sentence that says what is wrong.
import { hash } from 'node:crypto';
import { foldEmail } from '@course-exchange/rules/email';
import * as z from 'zod';
import { filled, readLine } from '../files/ndjson.ts';

const shape = {
  sub: filled,
  email: filled,
  name: filled,
  passwordHash: filled,
  emailVerified: z
    .boolean({ error: 'is neither true, false nor null.' })
    .nullish()
    .transform((value) => value === true),
};
const userLine = z.strictObject(shape, {
  error: ({ code }) =>
    code === 'unrecognized_keys'
      ? `A field is unknown; known are ${Object.keys(shape).join(', ')}.`
      : undefined,
});

export type UserRecord = z.output<typeof userLine> & { readonly line: bigint };

/** The line holds a password hash: a reason does not even quote an unknown field. */
export function readUserLine(
  content: string | undefined,
  line: number,
): { readonly user?: UserRecord; readonly reason?: string } {
  const read = readLine(userLine, content);
  if (read.reason !== undefined) return { reason: read.reason };
  return { user: { ...read.value, line: BigInt(line) } };
}

/** The earlier line that names the same user. Keeps 16 bytes of a hash per name: a file has millions. */
export function openSeenUsers() {
  const lines = new Map<string, number>();
  return ({ sub, email }: UserRecord, line: number): number | undefined => {
    const named = [...(sub ? [`sub ${sub}`] : []), ...(email ? [`email ${foldEmail(email)}`] : [])];
    const names = named.map((name) => hash('sha256', name, 'buffer').toString('latin1', 0, 16));
    const known = names.map((name) => lines.get(name)).find((one) => one !== undefined);
    if (known === undefined) for (const name of names) lines.set(name, line);
    return known;
  };
}
