// The consent form's decision on the wire.
import { SubmitConsentRequest_Decision as Decision } from '@course-exchange/proto/identity/v1/authorization';
import type { ConsentDecision } from '../authorization/submit-consent.ts';

/** A number that this version does not know is an incomplete form. */
export function readDecision(decision: Decision): ConsentDecision {
  if (decision === Decision.ALLOW) return 'allow';
  return decision === Decision.DENY ? 'deny' : 'unspecified';
}
