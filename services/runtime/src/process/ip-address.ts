// IP addresses in settings and headers. `isIP` is strict: programs disagree on `127.1` and octets with leading zeros.
import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An IPv4 address mapped into IPv6 counts as the IPv4 address. */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // ipaddr.js reads `::192.0.2.1`, which is not mapped, as `::ffff:192.0.2.1`.
  return isIP(text) === 0 ? undefined : ipaddr.process(text.replace(/^::(?=\d+\.)/, '0::'));
}

export type Networks = readonly [string] | readonly [string, string, string];

/** Smallest first: `192.0.2.0/24`; `2001:db8:0:1::/64` with its /56 and /48. `unknown` if it is not an address. */
export function networksOf(address: string): Networks {
  if (isIPv4(address)) return [address.replace(/\d+$/, '0/24')];
  const parsed = parseAddress(address.replace(/%.*$/, ''));
  if (parsed === undefined) return ['unknown'];
  if ('octets' in parsed) return networksOf(parsed.toString());
  const embedded = embeddedIpv4(parsed.parts);
  if (embedded !== undefined) return networksOf(embedded);
  const [first, second, third, fourth = 0] = parsed.parts;
  const network = (group: number, bits: number) =>
    `${[first, second, third, group].map((part) => part?.toString(16)).join(':')}::/${bits}`;
  return [network(fourth, 64), network(fourth & 0xff00, 56), network(0, 48)];
}

const [nat64, nat64Prefix, sixToFour, teredo] = [0x64, 0xff9b, 0x2002, 0x2001];

/**
 * The client's IPv4 address where a translator or tunnel embeds it: NAT64 (RFC 6052, and RFC 8215 with prefixes of /96),
 * 6to4 (RFC 3056), Teredo (RFC 4380). Otherwise all IPv4 clients of a translator would be one network.
 */
function embeddedIpv4(parts: readonly number[]): string | undefined {
  const [first, second = 0, third = 0, ...rest] = parts;
  const dotted = (high = 0, low = 0) => [high >> 8, high & 255, low >> 8, low & 255].join('.');
  const [high = 0, low = 0] = rest.slice(-2);
  if (first === nat64 && second === nat64Prefix) {
    const isWellKnown = third === 0 && rest.slice(0, -2).every((part) => part === 0);
    return isWellKnown || (third === 1 && high > 0) ? dotted(high, low) : undefined;
  }
  if (first === sixToFour) return dotted(second, third);
  if (first === teredo && second === 0) return dotted(high ^ 0xffff, low ^ 0xffff);
  return undefined;
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || (isIP(host) !== 0 && ipaddr.parse(host).range() === 'loopback');
}

/** An address, or a network of at least /8, in IPv6 /16, or /104 where the mapped IPv4 addresses are. */
export function isNarrowNetwork(text: string): boolean {
  const [address = '', bits] = text.split('/');
  if (isIP(address) === 0 || bits === undefined) return isIP(address) !== 0;
  if (!ipaddr.isValidCIDR(text)) return false;
  const network = ipaddr.parse(address);
  if ('octets' in network) return Number(bits) >= 8;
  return Number(bits) >= (network.parts[0] === 0 ? 104 : 16);
}
