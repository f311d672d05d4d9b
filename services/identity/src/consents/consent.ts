// consents/ is what users agreed to share with a client, until they or an operator withdraw it. The consent page is a step of
// authorize/; token/ reads the consent at each request.

// A consent: what a user agreed to share with a client (R6.1).
//
//   (none) ──► current ──► withdrawn
//                │  ▲
//                └──┘ extended by further scopes; the identifier stays
//
// - A user and a client have at most one current consent (index consents_current).
// - A withdrawal is final: what was issued under it stays dead (R13.4). Agreeing again makes a new consent.
// - Codes and refresh families name their consent; each exchange and refresh reads it again (`token/`).
// - Users grant and extend it (`authorize/`), operators list and withdraw it (`admin.ts`), no one deletes it.
import type { Scope } from '../clients/scope.ts';
import type { ClientId, ConsentId, Sub } from '../ids.ts';

export interface Consent {
  readonly consentId: ConsentId;
  readonly scopes: readonly Scope[];
}

export interface ConsentRecord extends Consent {
  readonly sub: Sub;
  readonly clientId: ClientId;
  readonly grantedAt: number;
  readonly extendedAt: number | null;
  readonly withdrawnAt: number | null;
  /** `grantedAt` to the microsecond, for the next page. */
  readonly position: string;
}
