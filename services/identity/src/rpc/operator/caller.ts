// As what a write on the operator port is carried out: translation only.
import { requestIdOf } from '@course-exchange/runtime/call-context';
import { actorOf } from '@course-exchange/runtime/caller-name';
import type { IncomingCall } from '@course-exchange/runtime/incoming-call';
import type { Order } from '../../operator/desk.ts';

export function orderOf(call: IncomingCall, { dryRun }: { readonly dryRun: boolean }): Order {
  return { actor: actorOf(call), requestId: requestIdOf() ?? '', dryRun };
}
