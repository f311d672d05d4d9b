// Which component calls, by the DNS names of its certificate.
import { Failure } from '../process/errors.ts';
import { type Logger, logText } from '../process/logger.ts';
import { list } from '../process/setting-kinds.ts';
import type { IncomingCall } from './incoming-call.ts';

const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
const dnsName = new RegExp(`^(?=.{1,253}$)${label}(\\.${label})*$`, 'i');

/** The names that a `component`'s certificate may have. */
export function peerNames(component: string) {
  return list('a DNS name without wildcard', (name) => dnsName.test(name))
    .optional()
    .describe(
      `DNS names that ${component}'s certificate may have; without them its first label decides, in this version alone`,
    );
}

export interface Peer {
  readonly component: string;
  /** Undefined: any name whose first label ends with the component, as in the previous version. */
  readonly names: readonly string[] | undefined;
}

/** `setting`: where the names come from. */
export function peerOf(component: string, setting: string, names: Peer['names'], logger: Logger): Peer {
  if (names === undefined) logger.warn('callers are not named whole', { setting: logText(setting) });
  return { component, names: names?.map((name) => name.toLowerCase()) };
}

/** Throws `permission_denied` unless the certificate is that of one of `peers`. */
export function expectPeer({ certificate }: IncomingCall, ...peers: readonly Peer[]): void {
  const shown = dnsNames(certificate()?.subjectaltname);
  if (peers.some((peer) => shown.some((name) => isOf(peer, name)))) return;
  const cause = new Error('its certificate is of another component');
  throw new Failure('permission_denied', 'the caller may not call this method', { cause });
}

function isOf({ component, names }: Peer, name: string): boolean {
  return names?.includes(name) ?? `-${name.split('.')[0]}`.endsWith(`-${component}`);
}

/** In lower case. Node quotes a name that holds a comma, which would pass for several. */
function dnsNames(alternatives: string | undefined): readonly string[] {
  if (alternatives === undefined || alternatives.includes('"')) return [];
  const names = alternatives.split(', ').filter((name) => name.startsWith('DNS:'));
  return names.map((name) => name.slice('DNS:'.length).toLowerCase());
}
