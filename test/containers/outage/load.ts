// A small steady load that goes on through an outage as a patient partner does: it asks again after a 503, and starts a
// family anew only where its token is refused. Unlike `test/support/load`, which keeps its rate whatever happens, each
// chain waits for its answer: only so is it known of every token, at the end, whether it may be good.
import { setTimeout as sleep } from 'node:timers/promises';
import { demoPartners, demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { discover } from '../../support/flow.ts';
import { send } from '../../support/http.ts';
import { watchStalls } from '../../support/own-time.ts';
import type { Partner } from '../../support/stack-file.ts';
import { type Chain, openChains } from './chains.ts';
import { type Operation, openSamples } from './samples.ts';

export type OutageLoad = Awaited<ReturnType<typeof startOutageLoad>>;

const families = 4;
/** Between two calls of one operation, milliseconds. */
const pauses: Readonly<Record<Operation, number>> = {
  refresh: 150,
  events: 100,
  'user-info': 200,
  discovery: 150,
  keys: 150,
  login: 300,
};

/** Resolves when the families are there and the load runs. */
export async function startOutageLoad(issuer: string) {
  const discovery = await discover(issuer);
  const partner = demoPartners('http://127.0.0.1:9000')[1] as Partner;
  const chains = openChains(discovery, partner, demoUsers.typical);
  const { all, take } = openSamples();
  const everyChain: Chain[] = [];
  for (let count = 0; count < families; count += 1) everyChain.push(await firstChain(chains.logIn));
  /** Lives through everything: an access token is good for 15 minutes. */
  const bearer = { headers: { authorization: `Bearer ${everyChain[0]?.access}` } };
  const stalls = watchStalls();
  let over = false;

  async function keep(operation: Operation, call: () => Promise<unknown>): Promise<void> {
    for (; !over; await sleep(pauses[operation])) await call();
  }

  const get = (operation: Operation, url: string, sent = {}) =>
    keep(operation, () => take(operation, () => send(url, sent)));

  const logInOnce = async () => {
    const came: { chain?: Chain } = {};
    await take('login', async () => {
      const { answer, chain } = await chains.logIn();
      if (chain) came.chain = chain;
      return answer;
    });
    return came.chain;
  };

  async function refresh(number: number): Promise<void> {
    const chain = everyChain[number] as Chain;
    const answer = await take('refresh', () => chains.refresh(chain));
    if (chains.note(chain, answer)) return;
    for (let anew: Chain | undefined; !anew && !over; await sleep(500)) {
      anew = await logInOnce();
      if (anew) everyChain[number] = { ...anew, spent: chain.spent };
    }
  }

  const running = Promise.all([
    ...everyChain.map((_, number) => keep('refresh', () => refresh(number))),
    keep('login', logInOnce),
    get('events', `${issuer}/api/events`, bearer),
    get('user-info', discovery.userinfo_endpoint, bearer),
    get('discovery', `${issuer}/.well-known/openid-configuration`),
    get('keys', discovery.jwks_uri),
  ]);
  return {
    samples: all,
    stalls,
    /** Whether a family's last answer was lost or a 503. */
    isAnyDoubtful: () => everyChain.some(({ doubtful }) => doubtful),
    /** Ends the load, then tries every token that it had. */
    stop: async () => {
      over = true;
      await running;
      return chains.judge(everyChain);
    },
  };
}

/** A busy machine may refuse one: nothing is judged yet. */
async function firstChain(logIn: () => Promise<{ readonly chain?: Chain }>): Promise<Chain> {
  for (let tries = 1; tries <= 5; tries += 1, await sleep(1_000)) {
    const { chain } = await logIn();
    if (chain) return chain;
  }
  throw new Error('Nobody can log in before the outage.');
}
