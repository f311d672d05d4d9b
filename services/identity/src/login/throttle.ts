// The rules of the login throttle; throttle-store.ts computes the delay atomically.
import { createHmac } from 'node:crypto';
import { emailKey } from '@course-exchange/rules/email';
import type { Networks } from '@course-exchange/runtime/process/ip-address';

const failureWindowMs = 15 * 60 * 1000;
/** One account's from one network (R30.1). */
export const accountThreshold = 5;
/** One account's within an hour, from anywhere; one more delays strangers (R30.11). */
const accountBudget = 100;
const hourMs = 60 * 60 * 1000;
/** For all accounts: /24 or /64, then /56 and /48 (R30.7, R30.10). */
const networkThresholds = [50, 150, 400] as const;
/** Each further failure doubles the delay. */
export const firstDelayMs = 1_000;
export const longestDelayMs = 60_000;

export function secondsToWait(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}

/** Unknown e-mails count alike. Keyed: a reader of the store cannot test e-mails. */
export function accountKey(key: Buffer, email: string): string {
  return keyedHash(key, `login ${emailKey(email)}`);
}

export function originKey(key: Buffer, account: string, kind: 'network' | 'device', value: string): string {
  return keyedHash(key, `login ${account} ${kind} ${value}`);
}

function keyedHash(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest().subarray(0, 16).toString('base64url');
}

export interface Counter {
  /** The braces put one step's counters into one Cluster slot. */
  readonly name: string;
  readonly threshold: number;
  /** How long a failure counts. */
  readonly windowMs: number;
  /** Of this account from here: a success clears it. */
  readonly own: boolean;
  /** Whether its delay applies to this login, which counts either way. */
  readonly delays: boolean;
}

export interface LoginOrigin {
  readonly account: string;
  readonly networks: Networks;
  readonly knownNetwork?: boolean;
  /** Keyed hash of a known device cookie. */
  readonly knownDevice?: string;
}

/**
 * In two steps: networks and account. All counters delay a stranger, its own failures a known network, only its own a
 * known browser (R30.11, R30.12).
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
