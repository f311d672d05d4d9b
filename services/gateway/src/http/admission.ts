// Admission: how much work is in flight, so that what is begun ends in time (R14.7). A request belongs to one class, and
// each class has room of its own, so that lists never stand before tokens.
//
//   arrives → refused, before its body is read: its class, its network or the client of its header has no room; when that
//             leaves: repeated-refusals.ts
//           → its body is read → admitted → waits for its turn → in work → gone
//                              → refused: no room any more, or none for the client of its form
//                                          waits for its turn → refused: too little of its time is left
//
// The room is what the class can end in time, and so is what is in work at once: both follow the pace at which answers leave
// while there is enough to do. A body that has not ended takes no room: whoever sends one slowly keeps nobody from work, and
// what such bodies cost is bounded apart (unfinished-bodies.ts).
import { isIPv4 } from 'node:net';
import { Overloaded } from '@course-exchange/runtime/process/errors';
import { parseAddress } from '@course-exchange/runtime/process/ip-address';
import { type Logger, logText } from '@course-exchange/runtime/process/logger';
import { gatewayMetrics } from '../metrics.ts';

/** What a request asks for; `other` is all else that identity answers: pages and user-info. */
export type Work = 'token' | 'login' | 'list' | 'other';

interface Limits {
  /** In work at the same time, at most: it keeps the services busy; each more would only make all of them slower. */
  readonly atOnce: number;
  /** Admitted whatever the pace: what one partner may ask at a time without having to ask again. */
  readonly least: number;
  /** Admitted at most. */
  readonly most: number;
  /** Milliseconds between two answers, until it was measured. */
  readonly pace: number;
  /** In work at the same time whatever the pace: fewer only where so many would all miss their time. */
  readonly fewest: number;
}

/** Logins wait in identity's queue, which knows who has failed before: here they all go on. */
const limits: Readonly<Record<Work, Limits>> = {
  token: { atOnce: 64, fewest: 64, least: 640, most: 2_560, pace: 1.5 },
  login: { atOnce: 256, fewest: 256, least: 256, most: 256, pace: 1 },
  list: { atOnce: 16, fewest: 4, least: 32, most: 256, pace: 4 },
  other: { atOnce: 64, fewest: 64, least: 128, most: 512, pace: 2 },
};

/** Milliseconds that the last one admitted waits, as far as the pace tells: half of the time for an answer (R14). */
const waitMs = 900;
/** For so many milliseconds the pace is measured. */
const measureMs = 200;
/**
 * Milliseconds that a turn must have left: half of the time for an answer. A service counts its deadline from when it hears
 * of a call, which on busy processors is late, and what it has consumed must still be answered (decision 0025).
 */
const shortestMs = 900;
/** Of the room, for one network and for one client: others always find some. */
const share = 0.8;
const logEveryMs = 1_000;

export interface Place {
  /** Settles when it is its turn. Throws `Overloaded` when too little is left until `deadline`, or when it is abandoned. */
  readonly turn: (deadline: number, abandoned: () => boolean) => Promise<void>;
  /** To be called however the request ends, and when its time is over. */
  readonly leave: () => void;
}

export interface Admission {
  /**
   * Undefined where there is no room. `address` is the caller's, as far as proxies are trusted; `client` is given once it is
   * proven (proven-clients.ts).
   */
  readonly admit: (work: Work, address: string, client?: string) => Place | undefined;
  /** Whether `admit` would give a place now. */
  readonly hasRoom: (work: Work, address: string, client?: string) => boolean;
}

interface AdmissionDeps {
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export function createAdmission(deps: AdmissionDeps): Admission {
  const rooms = {
    token: createRoom('token', deps),
    login: createRoom('login', deps),
    list: createRoom('list', deps),
    other: createRoom('other', deps),
  };
  return {
    admit: (work, address, client) => rooms[work].admit(holdersOf(address, client)),
    hasRoom: (work, address, client) => rooms[work].hasRoom(holdersOf(address, client)),
  };
}

/** The network, and the client. */
function holdersOf(address: string, client: string | undefined): readonly string[] {
  return client === undefined ? [networkOf(address)] : [networkOf(address), `client ${client}`];
}

function createRoom(work: Work, { logger, now }: AdmissionDeps) {
  const { least, most } = limits[work];
  const turns = createTurns(limits[work], now);
  const roomNow = () => Math.min(most, Math.max(least, Math.floor(waitMs / turns.pace())));
  const shares = new Map<string, number>();
  let [admitted, refused, loggedAt] = [0, 0, 0];

  gatewayMetrics.workAdmitted.observe(() => [[admitted, { work }]]);
  gatewayMetrics.workRunning.observe(() => [[turns.inWork(), { work }]]);
  gatewayMetrics.workRoom.observe(() => [[roomNow(), { work }]]);

  const refuse = (room: number): void => {
    refused += 1;
    if (now() - loggedAt < logEveryMs) return;
    logger.warn('work refused', { work: logText(work), refused, admitted, room });
    [refused, loggedAt] = [0, now()];
  };

  const hasRoom = (holders: readonly string[]): boolean => {
    const room = roomNow();
    if (admitted < room && holders.every((holder) => (shares.get(holder) ?? 0) < share * room)) return true;
    refuse(room);
    return false;
  };

  const admit = (holders: readonly string[]): Place | undefined => {
    if (!hasRoom(holders)) return undefined;
    admitted += 1;
    for (const holder of holders) shares.set(holder, (shares.get(holder) ?? 0) + 1);
    let [inWork, left] = [false, false];
    return {
      turn: async (deadline, abandoned) => {
        if (left) throw new Overloaded('its place was left');
        inWork = await turns.take(deadline - shortestMs - now());
        if (inWork && left) turns.end();
        if (!inWork || left) throw new Overloaded('its turn came too late');
        if (abandoned()) throw new Overloaded('nobody waits any more');
      },
      leave: () => {
        if (left) return;
        left = true;
        if (inWork) turns.end();
        admitted -= 1;
        for (const holder of holders) {
          const others = (shares.get(holder) ?? 1) - 1;
          if (others > 0) shares.set(holder, others);
          else shares.delete(holder);
        }
      },
    };
  };
  return { admit, hasRoom };
}

/** First come, first served. */
function createTurns({ atOnce, fewest, pace: assumed }: Limits, now: () => number) {
  const waiting = new Set<(isTurn: boolean) => void>();
  let [inWork, pace, since, ended] = [0, assumed, 0, 0];
  /** So many that each has half of `waitMs` for itself. */
  const hands = () => Math.min(atOnce, Math.max(fewest, Math.floor(waitMs / 2 / pace)));
  /** The services are busy: the time between two ends is what one piece of work takes. */
  const busy = () => inWork >= hands() / 2;

  function measure(): void {
    const time = now();
    ended += 1;
    if (busy() && time - since < measureMs) return;
    if (busy()) pace = (pace + (time - since) / ended) / 2;
    [since, ended] = [time, 0];
  }

  return {
    /** Milliseconds between two answers. */
    pace: () => pace,
    inWork: () => inWork,
    /** False when there is no turn within so many milliseconds. */
    take: async (withinMs: number): Promise<boolean> => {
      if (withinMs <= 0) return false;
      if (inWork >= hands()) return waitIn(waiting, withinMs);
      if (!busy()) [since, ended] = [now(), 0];
      inWork += 1;
      return true;
    },
    end: (): void => {
      measure();
      inWork -= 1;
      for (const next of waiting) {
        if (inWork >= hands()) break;
        waiting.delete(next);
        inWork += 1;
        next(true);
      }
    },
  };
}

function waitIn(waiting: Set<(isTurn: boolean) => void>, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => settle(false), withinMs);
    const settle = (isTurn: boolean): void => {
      clearTimeout(timer);
      waiting.delete(settle);
      resolve(isTurn);
    };
    waiting.add(settle);
  });
}

/** /24 of IPv4 and /48 of IPv6, which one holder may have whole; what is no address is one network. */
function networkOf(address: string): string {
  if (isIPv4(address)) return address.slice(0, address.lastIndexOf('.'));
  const parsed = parseAddress(address);
  if (parsed === undefined) return '';
  return 'octets' in parsed ? parsed.octets.slice(0, 3).join('.') : parsed.parts.slice(0, 3).join(':');
}
