// The network that an address belongs to, for counting failures: /24 of IPv4, /64 of IPv6 (R30).
import { isIPv4, isIPv6 } from 'node:net';

/** What stands for an address that is none; all such callers count together. */
const unknownNetwork = 'unknown';

/** `192.0.2.0/24`, `2001:db8:0:1::/64`. An IPv4 address mapped into IPv6 counts as the IPv4 address. */
export function networkOf(address: string): string {
  const bare = address.replace(/%.*$/, '');
  if (isIPv4(bare)) return networkOfIpv4(bare);
  if (!isIPv6(bare)) return unknownNetwork;
  const groups = expand(bare);
  const [high = 0, low = 0] = groups.slice(6);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (mapped) return networkOfIpv4([high >> 8, high & 255, low >> 8, low & 255].join('.'));
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

function networkOfIpv4(address: string): string {
  return `${address.split('.').slice(0, 3).join('.')}.0/24`;
}

/** The eight groups of a valid IPv6 address. */
function expand(address: string): number[] {
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((n) => n.toString(16)).join(':'),
  );
  const [head = [], tail = []] = hex
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = new Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}
