// Names that no DNS knows, such as the host of an issuer in a cluster under test: requests go to the address given here.
import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

const known = new Map<string, string>();

/** From now on requests of this process for `host` go to `address`, an IPv4 address. */
export function knowHost(host: string, address: string): void {
  known.set(host, address);
}

/** `dns.lookup` with these names before it. */
export const lookupKnown: LookupFunction = (host, options, callback) => {
  const address = known.get(host);
  if (address === undefined) return lookup(host, options, callback);
  const found: LookupAddress = { address, family: 4 };
  if (options.all) callback(null, [found]);
  else callback(null, address, 4);
};
