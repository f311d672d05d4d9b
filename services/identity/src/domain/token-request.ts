// A token request as it came and what its form alone decides (R7, R8).
import { Failure } from '@course-exchange/runtime/failure';

/** Fields after one form-decoding; empty is absent (R1). */
export interface TokenRequest {
  /** The Authorization header, whole. */
  readonly authorization: string;
  readonly grantType: string;
  readonly code: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
  readonly refreshToken: string;
  readonly scope: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Names of parameters that came more than once, as sent. */
  readonly repeatedParameters: readonly string[];
  /** False when the body was not application/x-www-form-urlencoded. */
  readonly formEncoded: boolean;
}

/** Parameters that the token endpoint knows; others are ignored. */
const tokenParameters: readonly string[] = [
  'grant_type',
  'code',
  'redirect_uri',
  'code_verifier',
  'refresh_token',
  'scope',
  'client_id',
  'client_secret',
];

/** Content type, then duplicates (R8). Throws `invalid_request`. */
export function checkForm({ formEncoded, repeatedParameters }: TokenRequest): void {
  if (!formEncoded) throw new Failure('invalid_request', 'content type');
  if (repeatedParameters.some((name) => tokenParameters.includes(name)))
    throw new Failure('invalid_request', 'repeated parameter');
}
