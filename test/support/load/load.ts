// Load at a fixed rate, as partners make it: refreshes of many families, event lists, whole logins, and now and then a
// consumed token sent again. An operation starts when its time comes, whether or not those before it have ended; of those
// that it slept through, where its machine was taken away, only the last are made up for.
import { setTimeout as sleep } from 'node:timers/promises';
import { discover } from '../flow.ts';
import type { DemoUser, Partner } from '../stack-file.ts';
import { openUserAgent } from '../user-agent.ts';
import { connect, type Family, listEvents, openFamilies, recover, refresh, replay } from './families.ts';
import { type OperationName, openRecord } from './record.ts';

export interface LoadOptions {
  readonly issuer: string;
  readonly partner: Partner;
  /** Who logs in, one after the other; the families belong to the first. */
  readonly users: readonly [DemoUser, ...DemoUser[]];
  /** 50 a second where nothing is said. */
  readonly perSecond?: Readonly<Partial<Record<OperationName, number>>>;
  readonly families?: number;
  /** Families of an earlier load on this issuer, in the place of new ones. */
  readonly kept?: readonly Family[] | undefined;
}

/** The reason of a failure that is none of the product's: nothing was asked. */
export const everyFamilyWaits = 'Every family waits for an answer.';

/** Milliseconds. All that seconds would have held, at once, is another load than this. */
const longestCatchUp = 500;

export type Load = Awaited<ReturnType<typeof startLoad>>;

const usual: Readonly<Record<OperationName, number>> = { refresh: 23, events: 25, login: 1, replay: 1 };

/** Resolves when the families are there and the load runs. */
export async function startLoad(options: LoadOptions) {
  const { issuer, partner, users } = options;
  const at = { discovery: await discover(issuer), partner };
  const everyFamily = options.kept ?? (await openFamilies(at, users[0], options.families ?? 80));
  const idle = [...everyFamily];
  const record = openRecord();
  const inProgress = new Set<Promise<void>>();
  const course = { over: false, logins: 0, lists: 0 };

  /** With a family that nobody else refreshes meanwhile. */
  async function withFamily(operation: 'refresh' | 'replay', run: (family: Family) => Promise<void>) {
    const family = idle.shift();
    if (!family) {
      await record.measure(operation, () => Promise.reject(new Error(everyFamilyWaits)));
      return;
    }
    const failure = await record.measure(operation, () => run(family));
    if (failure) await recover(at, record, { family, failure, user: users[0] });
    idle.push(family);
  }

  const operations: Readonly<Record<OperationName, () => Promise<unknown>>> = {
    refresh: () => withFamily('refresh', (family) => refresh(at, family)),
    replay: () => withFamily('replay', (family) => replay(at, record, family)),
    events: () => {
      const family = everyFamily[course.lists++ % everyFamily.length] as Family;
      return record.measure('events', () => listEvents(at, family));
    },
    login: () => {
      const user = users[course.logins++ % users.length] as DemoUser;
      return record.measure('login', async () => {
        await connect(at, openUserAgent(issuer), user);
      });
    },
  };

  async function keepStarting(name: OperationName, perSecond: number): Promise<void> {
    const pause = 1_000 / perSecond;
    let next = performance.now();
    while (!course.over) {
      next = Math.max(next + pause, performance.now() - longestCatchUp);
      await sleep(Math.max(0, next - performance.now()));
      if (course.over) return;
      const running: Promise<void> = operations[name]().then(() => {
        inProgress.delete(running);
      });
      inProgress.add(running);
    }
  }

  const rates = Object.entries({ ...usual, ...options.perSecond }) as [OperationName, number][];
  const starters = rates.filter(([, rate]) => rate > 0).map(([name, rate]) => keepStarting(name, rate));
  return {
    /** Those so far. */
    failures: record.failures,
    families: everyFamily,
    /** Ends the load and waits for what is in progress. */
    stop: async () => {
      course.over = true;
      await Promise.all(starters);
      await Promise.all(inProgress);
      return record.report();
    },
  };
}
