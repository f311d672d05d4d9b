// User-info: the claims of the user whom an access token names (R26).
import { Failure } from '@course-exchange/runtime/failure';
import type { Queries } from '@course-exchange/runtime/postgres';
import { type AccessTokens, verifyAccessToken } from '../signing/access-token.ts';
import { findUser, type User } from '../store/postgres/users.ts';

export interface UserInfoEndpoint {
  readonly database: Queries;
  readonly tokens: AccessTokens;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const bearer = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * The user of the token in `authorization` (the whole header). Throws `invalid_token` when it is missing,
 * not valid, without `openid`, or its user is disabled or gone (R13).
 */
export async function getUserInfo(
  { database, tokens, now }: UserInfoEndpoint,
  authorization: string | undefined,
): Promise<User> {
  const token = bearer.exec(authorization ?? '')?.[1];
  const grant = token ? verifyAccessToken(tokens, token, Math.floor(now() / 1000)) : undefined;
  if (!grant?.scopes.includes('openid')) throw new Failure('invalid_token', 'token not valid here');
  const user = await findUser(database, grant.sub);
  if (!user || user.disabled) throw new Failure('invalid_token', 'no such user any more');
  return user;
}
