// The identifiers of the product, each a type of its own, so that one cannot stand where another belongs.
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** A user: opaque and random, never reused (R19). */
export type Sub = Branded<'Sub'>;
export type ClientId = Branded<'ClientId'>;
/** One agreement between a user and a client; a new one after each withdrawal (R13). */
export type ConsentId = Branded<'ConsentId'>;
/** Public half of an authorization code and of every refresh token that descends from it. */
export type FamilyId = Branded<'FamilyId'>;
/** SHA-256 of the secret of a code, a token or a cookie, base64url (R18). */
export type SecretHash = Branded<'SecretHash'>;

/** Source of randomness; `node:crypto`'s randomBytes in main. */
export type RandomBytes = (size: number) => Buffer;
