// Events and designs as the catalog reads them. An Event is the group of a user's designs with one event identifier
// (R22): it exists as long as one of them is not deleted, and is nobody's to write. The catalog owns its two forms
// of identifier, its summary (written by the triggers of migration 0001, JSON and all) and the list of its designs;
// it refuses whatever is not the token's user's own.
import { isUtf8 } from 'node:buffer';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** The resource owner: `sub` of a verified access token, and nothing else. */
export type Owner = Branded<'Owner'>;
/** An Event's identifier as the platform stored it; never empty. */
export type StoredEventId = Branded<'StoredEventId'>;
/** An Event's identifier as partners see it: base64url of the stored one's UTF-8 (R22). */
export type PublicEventId = Branded<'PublicEventId'>;

/** Designs in one answer (specification §8). */
export const maxDesigns = 500;
/** Bytes of the longest identifier that table `designs` holds. */
export const longestStoredId = 512;
const longestPublicId = Math.ceil((longestStoredId * 4) / 3);
const publicForm = /^[A-Za-z0-9_-]+$/;

/** What partners get to see of `stored`; can be copied into a path unchanged. */
export function publicEventId(stored: StoredEventId): PublicEventId {
  return Buffer.from(stored, 'utf8').toString('base64url') as PublicEventId;
}

/** The stored identifier behind `candidate`; undefined when it cannot be one that we issued (R20). */
export function storedEventId(candidate: string): StoredEventId | undefined {
  if (candidate.length > longestPublicId || !publicForm.test(candidate)) return undefined;
  const bytes = Buffer.from(candidate, 'base64url');
  if (bytes.length > longestStoredId || bytes.toString('base64url') !== candidate) return undefined;
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  return bytes.toString('utf8') as StoredEventId;
}
