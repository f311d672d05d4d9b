// The bearer token of a resource request, as call metadata for the service that verifies it.
import { bearerToken } from '@course-exchange/rules/access-token';
import type { OutgoingCall } from '@course-exchange/runtime/grpc/client';

/** A malformed header is left out, as gRPC metadata would not carry each byte of it: the service misses its token. */
export function bearerCall(authorization: string | undefined): OutgoingCall {
  const token = bearerToken(authorization);
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** R21: the challenge names an error only when a token was sent. */
export function bearerChallenge(authorization: string | undefined): string {
  const sent = authorization !== undefined && /^Bearer\s+\S/i.test(authorization);
  return sent ? 'Bearer error="invalid_token"' : 'Bearer';
}
