// The claims of an access token's user (R26).
import { type RefusedToken, refusedFor } from '@course-exchange/rules/token-verification';
import { Refusal } from '../refusals/reasons.ts';
import type { User } from '../users/user.ts';
import { findUser } from '../users/user-table.ts';
import type { TokenDeps } from './grant.ts';
import { readAccessToken } from './jwt.ts';

/** Throws `invalid_token`, also when the user is disabled or gone (R13.7). */
export async function getUserInfo(
  deps: Pick<TokenDeps, 'database' | 'tokens' | 'now' | 'observe'>,
  token: string | undefined,
): Promise<User> {
  const refuse = ({ reason, client }: RefusedToken): Refusal => {
    const refusal = new Refusal('userinfo', 'invalid_token', reason);
    deps.observe({ event: 'access_token_refused', refusal, client });
    return refusal;
  };
  const grant = token ? await readAccessToken(deps.tokens, token, deps.now()) : refusedFor('no_token');
  if (grant.kind === 'refused') throw refuse(grant);
  const { sub, clientId: client } = grant;
  deps.observe({ event: 'authenticated', client, sub });
  const user = await findUser(deps.database, sub);
  if (!user || user.disabled) throw refuse(refusedFor('subject', { client_id: client }));
  return user;
}
