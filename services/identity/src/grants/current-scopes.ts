// What has changed since a grant was issued, honoured at the exchange and on refresh (R13).
import { Failure } from '@course-exchange/runtime/failure';
import type { ClientId, Sub } from '../domain/ids.ts';
import { intersection, type Scope } from '../domain/scope.ts';
import type { ClientStanding, GrantStanding } from '../store/postgres/grant-standing.ts';

/** The part of a code or refresh family that R13 looks at. */
export interface IssuedGrant {
  readonly clientId: ClientId;
  readonly sub: Sub;
  /** Milliseconds since the epoch: the login that the grant rests on. A sign-out since then leaves it dead. */
  readonly loggedInAt: number;
}

/** Whether user and consent still stand behind `issued`; where not, the grant is dead for good. */
export function isAlive(issued: IssuedGrant, standing: GrantStanding | undefined): standing is GrantStanding {
  if (standing === undefined || standing.sub !== issued.sub) return false;
  if (standing.withdrawn || standing.disabled) return false;
  return standing.signedOutAt === null || standing.signedOutAt < issued.loggedInAt;
}

/** Those of `scopes` that the client may still have; throws `invalid_scope` when none is left (R13). */
export function approvedScopes(scopes: readonly Scope[], client: ClientStanding): readonly Scope[] {
  const approved = intersection(scopes, client.scopes);
  if (approved.length === 0) throw new Failure('invalid_scope', 'no approved scope is left');
  return approved;
}
