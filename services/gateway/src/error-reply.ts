// The one table from an error code to an HTTP status, and the one-field body that carries it
// (specification §7, R7, R14, R20).
import type { ErrorCode } from '@course-exchange/proto/error-codes';
import { type Answer, jsonAnswer } from './answer.ts';
import type { Surface } from './routes/route.ts';
import { bearerChallenge } from './wire/bearer.ts';

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

/** Seconds after which a caller may try again while a store does not answer (R14). */
const retryAfter = { 'retry-after': '1' };

/** Answers `code` where `surface` is read. A code that is not in the table is a server_error. */
export function errorReply(code: string, surface: Surface, authorization: string | undefined): Answer {
  if (!isReplyCode(code)) return errorReply('server_error', surface, authorization);
  return jsonAnswer(statusOf(code, surface), errorBody(code), errorHeaders(code, surface, authorization));
}

function isReplyCode(code: string): code is ReplyCode {
  return Object.hasOwn(statuses, code);
}

/** R1: on the authorization endpoint an unknown client is a direct 400; there is nobody to challenge. */
function statusOf(code: ReplyCode, surface: Surface): number {
  return code === 'invalid_client' && surface !== 'token' ? 400 : statuses[code];
}

function errorHeaders(code: ReplyCode, surface: Surface, authorization: string | undefined) {
  if (code === 'temporarily_unavailable') return retryAfter;
  if (code === 'invalid_token') return { 'www-authenticate': bearerChallenge(authorization) };
  if (code === 'invalid_client' && surface === 'token')
    return { 'www-authenticate': 'Basic realm="token", charset="UTF-8"' };
  return {};
}

export function errorBody(code: ReplyCode): string {
  return `{"error":"${code}"}`;
}
