// What a fault is: what it does to a running system, and the alerts that it must set off.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type pg from 'pg';
import type { TestServer } from '../../stores/redis-servers.ts';
import type { Caller } from '../../support/caller.ts';
import { authorizeUrl, logIn } from '../../support/flow.ts';
import { type Answer, send } from '../../support/http.ts';
import type { System } from '../../support/system.ts';
import { openUserAgent, type Page } from '../../support/user-agent.ts';
import type { Prometheus } from '../prometheus.ts';
import type { SlowLink } from '../slow-link.ts';

/** A running system, and its stores as an operator of theirs reaches them. */
export interface Subject {
  readonly system: System;
  readonly caller: Caller;
  readonly database: pg.Pool;
  readonly redis: Redis;
  /** Between identity and Redis. */
  readonly redisLink: Pick<SlowLink, 'delay'>;
  readonly replica: TestServer;
  readonly prometheus: Pick<Prometheus, 'query'>;
}

/** As in `CourseExchangeOverload critical`, without what all have in common. */
export type AlertName = `${string} ${'critical' | 'warning'}`;

/** Repeats `again` until all `alerts` have fired since; all of the fault's where none are named. */
type UntilFired = (again?: () => Promise<unknown>, alerts?: readonly AlertName[]) => Promise<void>;

export interface Fault {
  readonly fires: readonly AlertName[];
  /** Undoes what it does, whatever happens. */
  readonly inject: (subject: Subject, untilFired: UntilFired) => Promise<void>;
}

/** Answers and failures alike: a fault is no reason to stop. */
export async function atOnce(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  await Promise.allSettled(Array.from({ length: count }, (_, index) => work(index)));
}

/** So many ask again and again while `work` runs; whoever is refused waits a moment. */
export async function meanwhile(
  count: number,
  ask: (lane: number) => Promise<Pick<Answer, 'status'>>,
  work: () => Promise<void>,
): Promise<void> {
  let over = false;
  const lanes = atOnce(count, async (lane) => {
    while (!over) {
      const { status } = await ask(lane).catch(() => ({ status: 503 }));
      if (status >= 500) await sleep(500);
    }
  });
  try {
    await work();
  } finally {
    over = true;
    await lanes;
  }
}

export function get({ system }: Subject, accessToken: string, path: string, from?: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${accessToken}` };
  return send(system.stack.issuer + path, { headers, ...(from !== undefined && { from }) });
}

/** A browser at the login form; what it returns sends it, as often as it is called. */
export async function openLogin({ system, caller }: Subject, from?: string) {
  const agent = openUserAgent(system.stack.issuer, { from });
  const page = await agent.visit(authorizeUrl(caller.discovery.authorization_endpoint, caller.partner));
  return async (user: { readonly email: string; readonly password: string } = caller.user) => {
    const next = await logIn(agent, page as Page, user);
    return next.answer;
  };
}
