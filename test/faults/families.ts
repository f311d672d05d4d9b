// Families of refresh tokens as a partner has them, with all that they ever held: the code, what is spent, what is current.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoUser } from '../support/stack-file.ts';
import { type Outcome, type Partner, untilJudged } from './partner.ts';

interface Family {
  readonly person: DemoUser;
  readonly code: string;
  readonly spent: string[];
  current: string;
  /** It was refused, or its code was sent twice. */
  isOver: boolean;
}

/** Of 100 turns so many send a code or token twice at once, and so many a token that is spent. */
const [twice, again] = [10, 10];
/** Turns until a family is left as it is, at most. */
const longestLife = 40;
/** Codes that wait for their exchange, so that there are some when none are issued; and families, for who needs one. */
const [codesInStock, familiesInStock] = [3, 3];

const goodOf = (outcomes: readonly Outcome[]) => outcomes.find(({ answer }) => answer === 'good');
const isRefused = (outcomes: readonly Outcome[]) => outcomes.some(({ answer }) => answer === 'refused');

export function openFamilies(partner: Partner, random: (below: number) => number) {
  const families: Family[] = [];
  const accessTokens = new Map<DemoUser, string>();
  let waiting = 0;

  /** Exchanges it, `times` at once. Undefined: it is to be tried again. */
  async function exchange(
    person: DemoUser,
    code: string,
    times: number,
  ): Promise<Family | 'refused' | undefined> {
    const outcomes = await Promise.all(Array.from({ length: times }, () => partner.exchange(code)));
    const good = goodOf(outcomes);
    if (good?.secret === undefined) return isRefused(outcomes) ? 'refused' : undefined;
    accessTokens.set(person, `${good.accessToken}`);
    const family = { person, code, current: good.secret, spent: [], isOver: times > 1 };
    families.push(family);
    return family;
  }

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
    const begin = async (code: string, times = 1): Promise<void> => {
      const family = await exchange(person, code, times);
      if (family === undefined) codes.push(code);
      else if (family !== 'refused' && !family.isOver) fresh.push(family);
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

  const present = (tokens: readonly string[]) =>
    atOnce(tokens, (refreshToken) => untilJudged(() => partner.refresh(refreshToken)));
  return {
    line,
    accessToken: (person: DemoUser) => `${accessTokens.get(person)}`,
    /** How many wait before they send a token again. */
    waiting: () => waiting,
    refreshAll: () =>
      atOnce(families, async (family) => {
        for (let left = 20; left > 0 && !family.isOver && !(await refresh(family)); left -= 1);
      }),
    presentSpent: () => present(families.flatMap(({ spent }) => spent)),
    presentCurrent: (of?: DemoUser) =>
      present(
        families.flatMap(({ person, current }) => (of === undefined || of === person ? [current] : [])),
      ),
    presentCodes: () => atOnce(families, ({ code }) => untilJudged(() => partner.exchange(code))),
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
