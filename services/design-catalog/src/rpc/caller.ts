// Who writes through the feed: translation only.
import { requestIdOf } from '@course-exchange/runtime/call-context';
import { actorOf } from '@course-exchange/runtime/caller-name';
import type { IncomingCall } from '@course-exchange/runtime/incoming-call';

/** As the audit log names them. */
export interface Caller {
  /** `cert:<name>` or `local:<name>`. */
  readonly actor: string;
  readonly requestId: string;
}

/** Throws `permission_denied` where the call names nobody. */
export function callerOf(call: IncomingCall): Caller {
  return { actor: actorOf(call), requestId: requestIdOf() ?? '' };
}
