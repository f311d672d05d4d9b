// Maps an error code to its HTTP status and one-field body (specification §7, R7.3, R14.1, R20.1).
import type { ErrorCode } from '@course-exchange/rules/error-codes';
import { retryAfterSeconds } from '@course-exchange/runtime/process/errors';
import { type Answer, jsonAnswer, type ResponseProfile } from './route.ts';

export type ReplyCode = ErrorCode | 'method_not_allowed';

const statuses: Readonly<Record<ReplyCode, number>> = {
  access_denied: 400,
  invalid_client: 401,
  invalid_grant: 400,
  invalid_redirect_uri: 400,
  invalid_request: 400,
  invalid_scope: 400,
  invalid_token: 401,
  method_not_allowed: 405,
  not_found: 404,
  server_error: 500,
  temporarily_unavailable: 503,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
};

/** An unknown code becomes server_error. */
export function errorReply(code: string, profile: ResponseProfile, authorization?: string): Answer {
  if (!isReplyCode(code)) return errorReply('server_error', profile, authorization);
  const headers = errorHeaders(code, profile, authorization);
  return { ...jsonAnswer(statusOf(code, profile), `{"error":"${code}"}`, headers), code };
}

function isReplyCode(code: string): code is ReplyCode {
  return Object.hasOwn(statuses, code);
}

/** An unknown client is a direct 400 at the authorization endpoint (R1.1, R1.3). */
function statusOf(code: ReplyCode, profile: ResponseProfile): number {
  return code === 'invalid_client' && profile !== 'token' ? 400 : statuses[code];
}

/** The challenge names an error only when a token was sent (R21). */
function bearerChallenge(authorization = ''): string {
  return /^Bearer\s+\S/i.test(authorization) ? 'Bearer error="invalid_token"' : 'Bearer';
}

function errorHeaders(code: ReplyCode, profile: ResponseProfile, authorization: string | undefined) {
  if (code === 'temporarily_unavailable') return { 'retry-after': String(retryAfterSeconds()) };
  if (code === 'invalid_token') return { 'www-authenticate': bearerChallenge(authorization) };
  if (code === 'invalid_client' && profile === 'token')
    return { 'www-authenticate': 'Basic realm="token", charset="UTF-8"' };
  return {};
}
