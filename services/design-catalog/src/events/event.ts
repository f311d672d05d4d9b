// events/ is what partners read: a user's Events and the designs of one. feed/ writes them.

// Events and designs as the catalog reads them. An Event groups a user's non-deleted designs by event identifier
// (R22.1); the triggers of migration 0001 write its summary.
import { isUtf8 } from 'node:buffer';
import type { Brand } from '@course-exchange/rules/brand';
import { maxIdBytes } from '@course-exchange/rules/design-change';

/** `sub` of a verified access token. */
export type Owner = Brand<string, 'Owner'>;
/** As the platform stored it; never empty. */
export type StoredEventId = Brand<string, 'StoredEventId'>;
/** For partners: base64url of the stored identifier's UTF-8 (R22.8). */
export type PublicEventId = Brand<string, 'PublicEventId'>;

/** Designs in one answer (specification §8). */
export const maxDesigns = 500;
const longestPublicId = Math.ceil((maxIdBytes * 4) / 3);
const publicForm = /^[A-Za-z0-9_-]+$/;

export function publicEventId(stored: StoredEventId): PublicEventId {
  return Buffer.from(stored, 'utf8').toString('base64url') as PublicEventId;
}

/** Undefined when `candidate` cannot be one that we issued (R20.3). */
export function storedEventId(candidate: string): StoredEventId | undefined {
  if (candidate.length > longestPublicId || !publicForm.test(candidate)) return undefined;
  const bytes = Buffer.from(candidate, 'base64url');
  if (bytes.length > maxIdBytes || bytes.toString('base64url') !== candidate) return undefined;
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  return bytes.toString('utf8') as StoredEventId;
}
