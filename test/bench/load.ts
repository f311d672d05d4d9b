// What is measured: operations, and the servers that carry them out. The load generator: closed loops, in which each lane asks
// again when it was answered, and open ones, in which requests come at their time, whether or not those before were answered.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectionsTo, type Request } from '../support/load.ts';

/** What a row of the report says of each. */
export const operations = {
  refresh: 'refresh',
  exchange: 'code exchange, with an ID token',
  events12: '`GET /api/events`, 12 events',
  events2000: '`GET /api/events`, 2,000 events',
  designs500: '`GET …/designs`, 500 designs',
} as const;

export type Operation = keyof typeof operations;

export interface Subject {
  readonly name: string;
  readonly origin: string;
  /** Its server processes, without stores. */
  readonly pids: readonly number[];
  readonly make: (grant: 'refresh' | 'exchange', count: number) => Promise<readonly string[]>;
  /** The request of each operation that it has, with the refresh token or code that the request consumes. */
  readonly requests: (secret: string) => Readonly<Partial<Record<Operation, Request>>>;
  readonly stop: () => Promise<unknown>;
}

/** A subject's server as a process of this file, whose first message is its origin. */
export async function forkServer(name: string, file: string, env: NodeJS.ProcessEnv) {
  const server = fork(file, {
    // oidc-provider writes warnings about its defaults.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production', ...env },
  });
  const ended = once(server, 'exit').then(() => Promise.reject(new Error(`${name} does not start`)));
  const [origin] = (await Promise.race([once(server, 'message'), ended])) as [string];
  return { server, name, origin, pids: [server.pid ?? 0] };
}

export type Work = Awaited<ReturnType<typeof workOf>>;

/** An operation, asked on `lanes` lanes. Each lane refreshes its newest token. */
export async function workOf({ origin, make, requests }: Subject, operation: Operation, lanes: number) {
  const secrets = operation === 'refresh' ? [...(await make(operation, lanes))] : [];
  // Most of an overload's wait while the capacity is measured.
  const connections = connectionsTo(origin, 60_000);
  return {
    /** One request on `lane`, used by no other meanwhile; gives the status of its answer. */
    ask: async (lane: number): Promise<number> => {
      const secret = (operation === 'exchange' ? secrets.pop() : secrets[lane]) ?? '';
      const { status, json } = await connections.ask(lane, requests(secret)[operation] as Request);
      if (operation === 'refresh' && status === 200) secrets[lane] = `${json().refresh_token}`;
      return status;
    },
    supply: async (count: number): Promise<void> => {
      if (operation === 'exchange') secrets.push(...(await make(operation, count)));
    },
  };
}

/** The share of a closed loop's requests that may fail, for a machine that is busy with other things. */
const maxFailures = 0.2;

/** Runs `ask` on `lanes` lanes, for `ms` milliseconds or `count` requests, and counts the answers 200. */
export async function closedLoop(
  lanes: number,
  ask: Work['ask'],
  { ms = Number.POSITIVE_INFINITY, count = Number.POSITIVE_INFINITY },
) {
  const begin = performance.now();
  let [started, requests] = [0, 0];
  const live = async (lane: number): Promise<void> => {
    while (started < count && performance.now() - begin < ms) {
      started += 1;
      if ((await ask(lane).catch(() => 0)) === 200) requests += 1;
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => live(lane)));
  const failures = started - requests;
  if (failures > maxFailures * started) throw new Error(`${failures} of ${started} requests failed`);
  return { requests, perSecond: (requests * 1_000) / (performance.now() - begin) };
}

/** Offers requests at a steady rate; gives how many were due while every lane waited for an answer, and were never sent. */
export async function openLoop(
  { perSecond, ms, lanes }: Readonly<Record<'perSecond' | 'ms' | 'lanes', number>>,
  ask: Work['ask'],
  /** For each answer, with the milliseconds from when it was due; status 0: none came. */
  answered: (status: number, tookMs: number) => void,
): Promise<number> {
  const idle = Array.from({ length: lanes }, (_, lane) => lane);
  const begin = performance.now();
  let [due, unsent] = [0, 0];
  const send = async (lane: number, dueAt: number): Promise<void> => {
    answered(await ask(lane).catch(() => 0), performance.now() - dueAt);
    idle.push(lane);
  };
  for (; performance.now() - begin < ms; await sleep(1)) {
    const target = Math.floor(((performance.now() - begin) * perSecond) / 1_000);
    for (; due < target; due += 1) {
      const lane = idle.shift();
      if (lane === undefined) unsent += 1;
      else void send(lane, begin + (due * 1_000) / perSecond);
    }
  }
  while (idle.length < lanes) await sleep(10);
  return unsent;
}

/** The value below which the share `part` of the values lies. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export const withNoise = (values: readonly number[], format: (value: number) => string): string =>
  `${format(median(values))} (${format(Math.min(...values))}–${format(Math.max(...values))})`;
