// The workload: families of refresh tokens, each refreshed by one at a time, codes that are exchanged, some of both sent
// twice or again, logins, reads, and an operator who withdraws consents. Each asks at its rate, and the next time when it has
// its answer. At the end every code and token that there was is tried once more.
import { setTimeout as sleep } from 'node:timers/promises';
import { type DemoUser, type StackFile, userWho } from '../support/stack-file.ts';
import type { Operation } from './checker.ts';
import { type Outcome, openBrowser, openPartner, type Partner, untilJudged } from './partner.ts';
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
  const { all, ...families } = openFamilies(partner, random);
  let over = false;

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
    const codeTurn = async () => line.exchange((await partner.authorize(person, browser)).secret);
    lanes.push(...turns.map((turn) => keep(rates.refresh, turn)), keep(rates.code, codeTurn));
  }
  const reads = Object.values(partner.reads(() => families.accessToken(steady)));
  lanes.push(
    ...reads.map((read) => keep(rates.read, read)),
    keep(rates.login, () => partner.authorize(steady)),
    keep(rates.withdrawal, () => partner.withdraw(changing, withdraw)),
  );
  return {
    /** Whether a token is sent again without a wait. */
    isAtPace: () => families.waiting() === 0,
    /** Ends it, and tries every code and token: what is good, what is spent, what is revoked. */
    finish: async (): Promise<void> => {
      over = true;
      await Promise.all(lanes);
      const present = (tokens: readonly string[]) =>
        atOnce(tokens, (token) => untilJudged(() => partner.refresh(token)));
      await atOnce(all, async (family) => {
        for (let left = 20; left > 0 && !family.isOver && !(await families.refresh(family)); left -= 1);
      });
      await present(all.flatMap(({ spent }) => spent));
      let isWithdrawn = false;
      for (let tries = 0; tries < 10 && !isWithdrawn; tries += 1) {
        // The last withdrawal may have left nothing to withdraw.
        await partner.authorize(changing);
        isWithdrawn = await partner.withdraw(changing, withdraw);
      }
      if (!isWithdrawn) throw new Error('No withdrawal was acknowledged though no fault lasts.');
      await present(all.filter(({ person }) => person === changing).map(({ current }) => current));
      // Each is a replay, which revokes what came of it (R10.2).
      await atOnce(all, ({ code }) => untilJudged(() => partner.exchange(code)));
      await present(all.map(({ current }) => current));
    },
  };
}

/** A family of refresh tokens as a partner has it, with all that it ever held. */
interface Family {
  readonly person: DemoUser;
  readonly code: string;
  readonly spent: string[];
  current: string;
  /** It was refused, or its code was sent twice. */
  isOver: boolean;
}

/** How many of 100 steps send a code or token twice at once, and how many send a spent token. */
const [twice, again] = [10, 10];
/** Turns until a family is left as it is, at most. */
const longestLife = 40;
/** Codes that wait for their exchange, so that there are some when none are issued; and families, for who needs one. */
const [codesInStock, familiesInStock] = [3, 3];

const goodOf = (outcomes: readonly Outcome[]) => outcomes.find(({ answer }) => answer === 'good');
const isRefused = (outcomes: readonly Outcome[]) => outcomes.some(({ answer }) => answer === 'refused');

function openFamilies(partner: Partner, random: (below: number) => number) {
  const all: Family[] = [];
  const accessTokens = new Map<DemoUser, string>();
  let waiting = 0;

  /** Sends its token, `times` at once. True where a successor came. */
  async function refresh(family: Family, times = 1): Promise<boolean> {
    const outcomes = await Promise.all(Array.from({ length: times }, () => partner.refresh(family.current)));
    const next = goodOf(outcomes)?.secret;
    if (next !== undefined) {
      family.spent.push(family.current);
      family.current = next;
    } else if (isRefused(outcomes)) family.isOver = true;
    else {
      waiting += 1;
      await sleep(outcomes[0]?.waitMs);
      waiting -= 1;
    }
    return next !== undefined;
  }

  async function lead(family: Family): Promise<void> {
    const drawn = random(100);
    const spent = family.spent[random(family.spent.length)];
    if (drawn < again && spent !== undefined) await partner.refresh(spent);
    else await refresh(family, drawn >= 100 - twice ? 2 : 1);
  }

  function line(person: DemoUser) {
    const [codes, fresh]: [string[], Family[]] = [[], []];
    /** Exchanges it, `times` at once. */
    const begin = async (code: string, times = 1): Promise<void> => {
      const outcomes = await Promise.all(Array.from({ length: times }, () => partner.exchange(code)));
      const good = goodOf(outcomes);
      if (good?.secret !== undefined) {
        accessTokens.set(person, `${good.accessToken}`);
        const family = { person, code, current: good.secret, spent: [], isOver: times > 1 };
        all.push(family);
        if (!family.isOver) fresh.push(family);
      } else if (!isRefused(outcomes)) codes.push(code);
    };
    return {
      begin,
      ready: () => fresh.length,
      /** Takes a code that was issued, and exchanges one; where none was, one of those in stock. */
      exchange: async (issued: string | undefined): Promise<void> => {
        if (issued !== undefined) codes.push(issued);
        const code = issued === undefined || codes.length > codesInStock ? codes.shift() : undefined;
        if (code !== undefined) await begin(code, random(100) < twice ? 2 : 1);
        fresh.splice(familiesInStock);
      },
      /** Leads one family after the other, one step each time. */
      familyTurn: (): (() => Promise<void>) => {
        let [family, left]: [Family | undefined, number] = [undefined, 0];
        return async () => {
          if (family === undefined || family.isOver || left === 0)
            [family, left] = [fresh.shift(), random(longestLife)];
          left -= 1;
          if (family !== undefined) await lead(family);
        };
      },
    };
  }

  return {
    ...{ all, line, refresh },
    accessToken: (person: DemoUser) => `${accessTokens.get(person)}`,
    /** How many wait before they send a token again. */
    waiting: () => waiting,
  };
}

/** Some at a time. */
async function atOnce<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const left = all.values();
  const lane = async () => {
    for (const one of left) await work(one);
  };
  await Promise.all(Array.from({ length: 16 }, lane));
}
