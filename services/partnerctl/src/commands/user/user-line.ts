// One line of an NDJSON file of users becomes a record for the service, or a sentence that says why not.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ImportedUserSchema } from '@course-exchange/proto/operator/v1/user';

export type UserRecord = Exclude<MessageInitShape<typeof ImportedUserSchema>, { $typeName: string }>;
export type ReadUser =
  | { readonly user: UserRecord; readonly reason?: undefined }
  | { readonly user?: undefined; readonly reason: string };

type Fields = Readonly<Record<string, unknown>>;

const texts = ['sub', 'email', 'name', 'passwordHash'];
const flags = ['emailVerified'];

/** A reason quotes at most the name of a field: the line holds a password hash. */
export function readUserLine(content: string | undefined, line: number): ReadUser {
  if (content === undefined) return { reason: 'It is not UTF-8.' };
  const fields = objectIn(content);
  if (typeof fields === 'string') return { reason: fields };
  const reason = mistakeIn(fields);
  if (reason !== undefined) return { reason };
  const { sub, email, emailVerified, name, passwordHash } = fields;
  return {
    user: {
      line: BigInt(line),
      sub: textOf(sub),
      email: textOf(email),
      emailVerified: emailVerified === true,
      name: textOf(name),
      passwordHash: textOf(passwordHash),
    },
  };
}

function objectIn(content: string): Fields | string {
  try {
    const value: unknown = JSON.parse(content);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Fields) : 'It is JSON but no object.';
  } catch {
    return 'It is not JSON.';
  }
}

function mistakeIn(fields: Fields): string | undefined {
  for (const [name, value] of Object.entries(fields)) {
    if (texts.includes(name)) {
      if (value !== null && typeof value !== 'string') return `${name} is neither a text nor null.`;
    } else if (flags.includes(name)) {
      if (value !== null && typeof value !== 'boolean') return `${name} is neither true, false nor null.`;
    } else return `A field is not known; known are ${[...texts, ...flags].join(', ')}.`;
  }
  return undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
