// The issuer is never served over plain HTTP (R28.3), as reported by a trusted proxy (R28.4).
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { errorReply } from './errors.ts';
import type { Answer } from './route.ts';

export function trustedProxy(proxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    if (bits === undefined) trusted.addAddress(address, family(address));
    else trusted.addSubnet(address, Number(bits), family(address));
  }
  return (address) => isIP(address) !== 0 && trusted.check(address, family(address));
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}

/**
 * Undefined unless the request came by http although the issuer is https. A request with a credential is refused, so
 * that its sender learns that it travelled in the clear.
 */
export function plainHttpAnswer(
  raw: IncomingMessage,
  url: string,
  issuer: string,
  trusts: (address: string) => boolean,
): Answer | undefined {
  if (!issuer.startsWith('https:') || !trusts(raw.socket.remoteAddress ?? '')) return undefined;
  // The last of several values is from the nearest proxy.
  const said = raw.headersDistinct['x-forwarded-proto']?.join(',').split(',').at(-1);
  if (said?.trim().toLowerCase() !== 'http') return undefined;
  const { authorization, cookie } = raw.headers;
  const readsOnly = raw.method === 'GET' || raw.method === 'HEAD';
  if (!readsOnly || authorization !== undefined || cookie !== undefined)
    return errorReply('invalid_request', 'public');
  return {
    status: 308,
    headers: { location: issuer + (url.startsWith('/') ? url : '/') },
    cookies: [],
    body: '',
  };
}
