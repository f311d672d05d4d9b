// Whether a client is who it says it is (R7, R18).
import { createHash, timingSafeEqual } from 'node:crypto';
import { Failure } from '@course-exchange/runtime/failure';
import type { ClientStanding } from '../store/postgres/grant-standing.ts';

/** Stands in where there is no secret, so that an unknown client costs what a wrong secret costs. */
const noSecret = ['0'.repeat(64)];

/**
 * The client and the hash of the secret that it showed, if `secret` is one of its valid secrets and it is active;
 * else throws `invalid_client`. Every
 * valid secret is compared, each in constant time; unknown and wrong take the same way.
 */
export function authenticateClient(
  client: ClientStanding | undefined,
  secret: string,
): { readonly client: ClientStanding; readonly secretHash: string } {
  const presented = createHash('sha256').update(secret).digest();
  const valid = client?.secretHashes.length ? client.secretHashes : noSecret;
  let matched: string | undefined;
  for (const hash of valid) {
    if (timingSafeEqual(presented, Buffer.from(hash, 'hex'))) matched = hash;
  }
  if (!client?.active || matched === undefined)
    throw new Failure('invalid_client', 'client not authenticated');
  return { client, secretHash: matched };
}
