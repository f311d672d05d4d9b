// A user as an operator names one: by sub, or by e-mail address.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { UserNameSchema } from '@course-exchange/proto/operator/v1/user';

/** No `sub` holds an @. */
export function userName(words: string): MessageInitShape<typeof UserNameSchema> {
  return { name: words.includes('@') ? { case: 'email', value: words } : { case: 'sub', value: words } };
}

export const userOperand = { user: { term: '<user>', about: 'The user: sub or e-mail address' } } as const;
