// Refresh families of one partner, each with its newest tokens. A family is refreshed by one at a time (specification §3).
import { setTimeout as sleep } from 'node:timers/promises';
import { authorizeUrl, type Discovery, logInAndAgree, type Tokens, token, tokensOf } from '../flow.ts';
import { send } from '../http.ts';
import type { DemoUser, Partner } from '../stack-file.ts';
import { openUserAgent, type UserAgent } from '../user-agent.ts';
import type { Failure, LoadRecord } from './record.ts';

export interface Family {
  refresh: string;
  access: string;
}

export interface Deployment {
  readonly discovery: Discovery;
  readonly partner: Partner;
}

/** From the first page to tokens; a browser that is logged in already is asked nothing. Throws at an answer that it does not expect. */
export async function connect(at: Deployment, agent: UserAgent, user: DemoUser): Promise<Family> {
  const { discovery, partner } = at;
  const start = await agent.visit(authorizeUrl(discovery.authorization_endpoint, partner, { state: 'load' }));
  const { parameters } = await logInAndAgree(agent, start, user);
  const [redirect_uri] = partner.redirectUris;
  const form = { grant_type: 'authorization_code', code: parameters.get('code') ?? '', redirect_uri };
  return familyOf(tokensOf(await token(discovery.token_endpoint, partner, form)));
}

/** `count` families of one login. A busy machine may refuse one: nothing is judged yet. */
export async function openFamilies(at: Deployment, user: DemoUser, count: number): Promise<Family[]> {
  const agent = openUserAgent(at.discovery.issuer);
  const families: Family[] = [];
  for (let failures = 0; families.length < count; )
    try {
      families.push(await connect(at, agent, user));
    } catch (error) {
      failures += 1;
      if (failures > 5) throw error;
      await sleep(1_000);
    }
  return families;
}

export async function refresh(at: Deployment, family: Family): Promise<void> {
  Object.assign(family, familyOf(tokensOf(await spend(at, family.refresh))));
}

/** Sends a consumed token again: it must be refused, and its successor goes on. */
export async function replay(at: Deployment, record: LoadRecord, family: Family): Promise<void> {
  const consumed = family.refresh;
  await refresh(at, family);
  const answer = await spend(at, consumed);
  if (answer.status === 200) record.countDoubleSpend();
  if (answer.status !== 400) throw new Error(`A consumed token was answered with ${answer.status}.`);
}

/**
 * After a refusal, or an answer that never came, the token may be spent or not, but once at most: sent twice at the same
 * time, after Retry-After again while neither is certain, and where it is spent the family starts anew. Counts nothing as a
 * failure: the failure that led here is counted.
 */
export async function recover(
  at: Deployment,
  record: LoadRecord,
  { family, failure, user }: { readonly family: Family; readonly failure: Failure; readonly user: DemoUser },
): Promise<void> {
  const sent = family.refresh;
  for (let attempt = 0; attempt < 40; attempt++) {
    const tries = await Promise.all([1, 2].map(() => spend(at, sent).catch(() => undefined)));
    const [accepted, again] = tries.filter((answer) => answer?.status === 200);
    if (again) record.countDoubleSpend();
    if (accepted) {
      Object.assign(family, familyOf(tokensOf(accepted)));
      return;
    }
    if (tries.every((answer) => answer?.status === 400)) break;
    await sleep(1_000 * Math.max(0.5, ...tries.map((answer) => Number(answer?.headers['retry-after'] ?? 0))));
  }
  record.countLost(failure);
  for (let attempt = 0; attempt < 40; attempt++) {
    try {
      Object.assign(family, await connect(at, openUserAgent(at.discovery.issuer), user));
      return;
    } catch {
      await sleep(500);
    }
  }
}

export async function listEvents(at: Deployment, family: Family): Promise<void> {
  const answer = await send(`${at.discovery.issuer}/api/events`, {
    headers: { authorization: `Bearer ${family.access}`, accept: 'application/json' },
  });
  if (answer.status !== 200) throw new Error(`GET /api/events answered ${answer.status} ${answer.text}`);
  if (!Array.isArray(answer.json().items)) throw new Error('GET /api/events answered no list.');
}

function spend(at: Deployment, refreshToken: string): ReturnType<typeof token> {
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
  return token(at.discovery.token_endpoint, at.partner, form);
}

function familyOf({ refresh_token, access_token }: Tokens): Family {
  return { refresh: refresh_token, access: access_token };
}
