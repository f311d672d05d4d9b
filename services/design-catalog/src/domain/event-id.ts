// The two forms of an Event identifier (R22): stored, and public as base64url of the stored one's UTF-8.
import { isUtf8 } from 'node:buffer';
import type { PublicEventId, StoredEventId } from './ids.ts';

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
