// The rules of the login throttle (R30): how many failures start a delay, and under which names they are counted, by
// account and by network: /24 of IPv4; /64, /56 and /48 of IPv6, where one customer has many of the smaller ones. The
// delay itself is computed where it is atomic, in throttle-store.ts.
import { createHmac } from 'node:crypto';
import { foldEmail } from '@course-exchange/rules/email';
import type { Networks } from '@course-exchange/runtime/process/ip-address';

/** Failures older than this, in milliseconds, no longer count. */
const failureWindowMs = 15 * 60 * 1000;
/** Failures of one account from one network that start a delay. */
export const accountThreshold = 5;
/** Failures of one account within an hour, from anywhere; one more delays those that it does not know. */
const accountBudget = 100;
const hourMs = 60 * 60 * 1000;
/** Failures of one network, whatever the accounts, that start a delay: /24 or /64, then /56 and /48. */
const networkThresholds = [50, 150, 400] as const;
/** The first delay and the longest one, in milliseconds; each further failure doubles it. */
export const firstDelayMs = 1_000;
export const longestDelayMs = 60_000;

/** Whole seconds that a page tells the user to wait; at least one. */
export function secondsToWait(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}

/**
 * Name under which failures of an account are counted; unknown e-mails count alike (R30). Keyed, so that
 * whoever reads the store cannot try e-mails against it.
 */
export function accountKey(key: Buffer, email: string): string {
  return keyedHash(key, `login ${foldEmail(email)}`);
}

/** Name under which an account remembers a network or a browser; another account has another one for it. */
export function originKey(key: Buffer, account: string, kind: 'network' | 'device', value: string): string {
  return keyedHash(key, `login ${account} ${kind} ${value}`);
}

function keyedHash(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest().subarray(0, 16).toString('base64url');
}

/** Failures that are counted together, and how many of them start a delay. */
export interface Counter {
  /** In its keys. The braces put the counters of one step into one slot of a Redis Cluster. */
  readonly name: string;
  readonly threshold: number;
  /** Milliseconds for which a failure counts. */
  readonly windowMs: number;
  /** Of this account from here alone: a success empties it. */
  readonly own: boolean;
  /** Whether its delay holds this login back; the login counts here either way. */
  readonly delays: boolean;
}

/** Who logs in, from where, and what of that has logged in to the account before. */
export interface LoginOrigin {
  readonly account: string;
  readonly networks: Networks;
  readonly knownNetwork?: boolean;
  /** Keyed hash of a known device cookie. */
  readonly knownDevice?: string;
}

/**
 * What a login counts for when it fails, in two steps: networks and account. A stranger is held back by all of it, a known
 * network by its own failures, a known browser by none but those that it made itself (R30).
 */
export function countersOf({ account, networks, knownNetwork = false, knownDevice }: LoginOrigin) {
  const [smallest, ...others] = networks;
  const widest = `{${networks.at(-1)}}`;
  const stranger = knownDevice === undefined && !knownNetwork;
  const windowMs = failureWindowMs;
  const ofNetwork = (network: string, index: number, delays: boolean): Counter => {
    const threshold = networkThresholds[index] ?? 0;
    return { name: `${widest}:${network}`, threshold, windowMs, own: false, delays };
  };
  const ofAccount = (name: string, delays: boolean): Counter => {
    return { name, threshold: accountThreshold, windowMs, own: true, delays };
  };
  const fromNetwork: readonly Counter[] = [
    ofAccount(`${widest}:${smallest}:${account}`, knownDevice === undefined),
    ofNetwork(smallest, 0, knownDevice === undefined),
    ...others.map((network, index) => ofNetwork(network, index + 1, stranger)),
  ];
  const fromAnywhere: readonly Counter[] = [
    ...(knownDevice === undefined ? [] : [ofAccount(`{${account}}:${knownDevice}`, true)]),
    { name: `{${account}}`, threshold: accountBudget + 1, windowMs: hourMs, own: false, delays: stranger },
  ];
  return [fromNetwork, fromAnywhere] as const;
}
