// The record of a refusal for support (R34), without anything of R27.
import type { ClientId } from '../ids.ts';
import type { EarlierRequest, Refusal, RefusalReason } from './reasons.ts';

export interface RefusalRecord {
  /** As sent by the caller: not unique. */
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly endpoint: 'token' | 'authorization' | 'userinfo';
  /** Of a registered client, or an id of that form. */
  readonly clientId: ClientId | undefined;
  /** By its secret or by an access token that we signed. */
  readonly clientAuthenticated: boolean;
  readonly code: Refusal['code'];
  readonly reason: RefusalReason;
  /** Keyed hash, as in logs. */
  readonly user: string | undefined;
  /** Keyed hash. */
  readonly family: string | undefined;
  readonly earlier: EarlierRequest | undefined;
}

/** Undefined matches everything. */
export interface RefusalFilter {
  readonly requestId: string | undefined;
  /** Authenticated or only named. */
  readonly clientId: string | undefined;
  readonly code: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number | undefined;
  /** Not included. */
  readonly until: number | undefined;
}

export type ListedRefusal = RefusalRecord & { readonly position: string };

export interface RefusalPage {
  /** The last one of the page before. */
  readonly after: Pick<ListedRefusal, 'at' | 'clientAuthenticated' | 'position'> | undefined;
  readonly limit: number;
}
