// Who asks on a private port, as the audit log names them.
import { DetailedFailure } from './failure.ts';
import type { IncomingCall } from './incoming-call.ts';

const nameForm = /^[A-Za-z0-9._@\\ -]{1,64}$/;

/**
 * `cert:<name>` of the certificate, else `local:<name>` of the metadata `x-operator`: an account of the machine or
 * pod, which reached the port because it may be there. Throws `permission_denied` without a name.
 */
export function actorOf({ peerName, metadata }: IncomingCall): string {
  if (peerName !== undefined && nameForm.test(peerName)) return `cert:${peerName}`;
  const given = metadata('x-operator');
  if (peerName === undefined && given !== undefined && nameForm.test(given)) return `local:${given}`;
  throw new DetailedFailure('permission_denied', 'The call does not say who the operator is.');
}
