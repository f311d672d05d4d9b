// User-info: the claims of the user whom an access token names (R26).
import type { RefusedToken } from '@course-exchange/rules/token-verification';
import { Failure } from '@course-exchange/runtime/process/errors';
import { logText, nameUser } from '@course-exchange/runtime/process/logger';
import { unknownClient } from '@course-exchange/runtime/process/metrics';
import { nameSubject } from '@course-exchange/runtime/process/request-context';
import { annotate } from '@course-exchange/runtime/process/spans';
import { readAccessToken } from '../jwt/access-token.ts';
import { identityMetrics } from '../metrics.ts';
import type { User } from '../users/user.ts';
import { findUser } from '../users/user-table.ts';
import type { TokenDeps } from './grant.ts';

const bearer = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * The user of the token in `authorization` (the whole header). Throws `invalid_token` when it is missing,
 * not valid, without `openid`, or its user is disabled or gone (R13).
 */
export async function getUserInfo(
  deps: Pick<TokenDeps, 'database' | 'tokens' | 'now' | 'keyedUser' | 'onRefused'>,
  authorization: string | undefined,
): Promise<User> {
  const { database, tokens, now, keyedUser } = deps;
  const token = bearer.exec(authorization ?? '')?.[1];
  const grant = token ? await readAccessToken(tokens, token, now()) : ({ reason: 'no token' } as const);
  if ('reason' in grant) throw refuse(deps, grant);
  const { sub, clientId: client, scopes } = grant;
  nameUser(keyedUser(sub));
  nameSubject({ client });
  annotate(() => ({ 'course_exchange.client_id': logText(client) }));
  if (!scopes.includes('openid')) throw refuse(deps, { reason: 'scope', client });
  const user = await findUser(database, sub);
  if (!user || user.disabled) throw refuse(deps, { reason: 'subject', client });
  return user;
}

function refuse({ onRefused }: Pick<TokenDeps, 'onRefused'>, { reason, client }: RefusedToken): Failure {
  const failure = new Failure('invalid_token', reason);
  nameSubject({ client });
  identityMetrics.accessTokensRefused.add({ reason, client_id: client ?? unknownClient });
  onRefused(failure, client);
  return failure;
}
