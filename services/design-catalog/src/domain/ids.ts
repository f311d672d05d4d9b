// The identifiers of the catalog, each a type of its own, so that one cannot stand where another belongs.
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** The resource owner: `sub` of a verified access token, and nothing else. */
export type Owner = Branded<'Owner'>;
/** An Event's identifier as the platform stored it; never empty. */
export type StoredEventId = Branded<'StoredEventId'>;
/** An Event's identifier as partners see it (R22). */
export type PublicEventId = Branded<'PublicEventId'>;
