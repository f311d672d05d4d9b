// An authorization request that is refused: by redirect, or directly where there is no address to answer to. The partner is
// told a code; why, one line, one counter and the span are told, with the client that the request names where it is
// registered: nothing has proven it yet.
import { Failure } from '@course-exchange/runtime/process/errors';
import { logText } from '@course-exchange/runtime/process/logger';
import { unknownClient } from '@course-exchange/runtime/process/metrics';
import { annotate } from '@course-exchange/runtime/process/spans';
import type { ClientId } from '../ids.ts';
import { identityMetrics } from '../metrics.ts';
import { securityEvents, type UserLog } from '../security-events.ts';
import type { AuthorizationRequest } from './request.ts';
import { errorLocation, type RedirectedError } from './response.ts';

type Deps = Pick<UserLog, 'onRefused'>;

/** Back to the partner, with a code or with an error. */
export interface PartnerRedirect {
  readonly kind: 'redirect';
  readonly location: string;
  readonly error?: RedirectedError;
}

type Answerable = Pick<AuthorizationRequest, 'clientId' | 'redirectUri' | 'state'>;

/** Tells of the refusal and returns its answer. */
export function refuseByRedirect(
  deps: Deps,
  request: Answerable,
  error: RedirectedError,
  reason: string,
): PartnerRedirect {
  reportRefused(deps, new Failure(error, reason), request.clientId);
  return errorRedirect(request, error);
}

export function errorRedirect({ redirectUri, state }: Answerable, error: RedirectedError): PartnerRedirect {
  return { kind: 'redirect', location: errorLocation({ redirectUri, state }, error), error };
}

/** What `check` gives; a Failure that it throws is the direct refusal of a request of `client`, if there is one. */
export function refuseDirectly<T>(deps: Deps, client: ClientId | undefined, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof Failure) reportRefused(deps, error, client);
    throw error;
  }
}

/** Its message is a constant text, or the name of the security event that tells of it in the place of a line. */
export function reportRefused({ onRefused }: Deps, refused: Failure, client: ClientId | undefined): void {
  const { code, message: reason } = refused;
  identityMetrics.authorizationsRefused.add({
    'error.type': code,
    reason,
    client_id: client ?? unknownClient,
  });
  annotate(() => ({
    'error.type': logText(code),
    'course_exchange.error.reason': logText(reason),
    ...(client && { 'course_exchange.client_id': logText(client) }),
  }));
  if (!Object.hasOwn(securityEvents, reason)) onRefused(refused, client);
}
