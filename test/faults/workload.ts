// The workload: families of refresh tokens, each refreshed by one at a time, codes that are exchanged, some of both sent
// twice or again, logins, reads, and an operator who withdraws consents. Each asks at its rate, and the next time when it has
// its answer. At the end every code and token that there was is tried once more.
import { setTimeout as sleep } from 'node:timers/promises';
import { type DemoUser, type StackFile, userWho } from '../support/stack-file.ts';
import type { Operation } from './checker.ts';
import { openFamilies } from './families.ts';
import { openBrowser, openPartner, untilJudged } from './partner.ts';
import type { FaultName, PartName } from './table.ts';

export type Undo = () => Promise<unknown>;

/** A system that runs, faults that can be done to its parts, and an operator. */
export interface Target {
  readonly stack: StackFile;
  /** Families that are refreshed, of each of two persons; the consent of the second is withdrawn now and then. */
  readonly families?: readonly [number, number];
  /**
   * How each fault of its rows is done to a part; resolves when that is complete. What it gives undoes it, or does what ends
   * by itself, and resolves when the row's `ends` is observed.
   */
  readonly faults: Readonly<Partial<Record<FaultName, (part: PartName) => Promise<Undo>>>>;
  /** Withdraws the consent of a user with a client; resolves when that was acknowledged. */
  readonly withdraw: (user: DemoUser, clientId: string) => Promise<unknown>;
  readonly logs?: string;
  readonly stop?: () => Promise<unknown>;
}

/** Turns in a second, of each that takes them. */
const rates = { refresh: 2.5, code: 1, login: 1, read: 1.2, withdrawal: 0.15 };

/** Resolves when every family is there and all of it goes on. `random`: a whole number below the given one. */
export async function startWorkload(
  { stack, withdraw, families: familiesOf = [8, 2] }: Pick<Target, 'stack' | 'withdraw' | 'families'>,
  operations: Operation[],
  random: (below: number) => number,
) {
  const partner = await openPartner(stack, operations);
  const [steady, changing] = [userWho(stack, 'typical season'), userWho(stack, 'shares a stored')];
  const families = openFamilies(partner, random);
  let over = false;

  /** Issues a code, and exchanges an older one, or one in stock where none is issued. */
  function codeTurn(person: DemoUser, fresh: ReturnType<typeof families.line>): () => Promise<unknown> {
    const browser = openBrowser(stack.issuer);
    return async () => {
      const { secret } = await partner.authorize(person, browser);
      await fresh.exchange(secret);
    };
  }

  async function keep(perSecond: number, turn: () => Promise<unknown>): Promise<void> {
    for (let next = performance.now(); !over; await sleep(Math.max(0, next - performance.now()))) {
      await turn();
      next = Math.max(next + 1_000 / perSecond, performance.now());
    }
  }

  const lanes: Promise<void>[] = [];
  for (const [index, person] of [steady, changing].entries()) {
    const line = families.line(person);
    const browser = openBrowser(stack.issuer);
    const count = familiesOf[index] ?? 0;
    while (line.ready() < count) {
      const { secret = '' } = await untilJudged(() => partner.authorize(person, browser));
      await line.begin(secret);
    }
    const turns = Array.from({ length: count }, line.familyTurn);
    lanes.push(...turns.map((turn) => keep(rates.refresh, turn)), keep(rates.code, codeTurn(person, line)));
  }
  const reads = Object.values(partner.reads(() => families.accessToken(steady)));
  lanes.push(
    ...reads.map((read) => keep(rates.read, read)),
    keep(rates.login, () => partner.authorize(steady)),
    keep(rates.withdrawal, () => partner.withdraw(changing, withdraw)),
  );
  return {
    /** Whether nobody waits before it sends a token again. */
    isAtPace: () => families.waiting() === 0,
    /** Ends it, and tries every code and token: what is good, what is spent, what is revoked. */
    finish: async (): Promise<void> => {
      over = true;
      await Promise.all(lanes);
      await families.refreshAll();
      await families.presentSpent();
      let isWithdrawn = false;
      for (let tries = 0; tries < 10 && !isWithdrawn; tries += 1) {
        // The last withdrawal may have left nothing to withdraw.
        await partner.authorize(changing);
        isWithdrawn = await partner.withdraw(changing, withdraw);
      }
      if (!isWithdrawn) throw new Error('No withdrawal was acknowledged though no fault lasts.');
      await families.presentCurrent(changing);
      // Each is a replay, which revokes what came of it (R10.2).
      await families.presentCodes();
      await families.presentCurrent();
    },
  };
}
