// The bearer token of a resource request, as call metadata for the service that verifies it.
import type { OutgoingCall } from '@course-exchange/runtime/grpc/client';

/** RFC 6750 §2.1. Anything else cannot be a token, and gRPC metadata would not carry every byte of it. */
const bearer = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/**
 * The header for the service, in its plain form; without one when it is malformed, so that the service
 * answers as it does for a missing token.
 */
export function bearerCall(authorization: string | undefined): OutgoingCall {
  const token = authorization === undefined ? undefined : bearer.exec(authorization)?.[1];
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** R21: the challenge names an error only when a token was sent. */
export function bearerChallenge(authorization: string | undefined): string {
  const sent = authorization !== undefined && /^Bearer\s+\S/i.test(authorization);
  return sent ? 'Bearer error="invalid_token"' : 'Bearer';
}
