// Families of refresh tokens that are refreshed without pause: some through the gateway, which balances, and one with
// each identity process itself, which also exchanges a code now and then for the ID token.
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { decodeProtectedHeader } from 'jose';
import { authorizeUrl, basic, type Discovery, discover, token, tokensOf, walk } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { type Partner, partnerFor, userWho } from '../support/stack-file.ts';
import type { System } from '../support/system.ts';
import { openUserAgent, type UserAgent } from '../support/user-agent.ts';
import type { AgedClock } from './aged-clock.ts';
import { callService } from './grpc-call.ts';
import type { IssuedToken } from './held-key-sets.ts';

export interface Traffic {
  readonly issued: readonly IssuedToken[];
  /** Of tokens by the gateway alone. */
  readonly userInfos: () => number;
  /** Resolves when every family has had its last answer; rejects with the first answer that was not 200. */
  readonly stop: () => Promise<void>;
}

interface Issue {
  readonly access: string;
  readonly id?: string | undefined;
  readonly refresh: string;
}

type Ask = (form: Readonly<Record<string, string>>) => Promise<Issue>;

const familiesOfGateway = 3;
const refreshesOfCode = 5;

export async function startTraffic(system: System, clock: AgedClock): Promise<Traffic> {
  const { issuer } = system.stack;
  const discovery = await discover(issuer);
  const partner = partnerFor(system.stack, 'openid', 'email', 'profile');
  const issued: IssuedToken[] = [];
  const course = { over: false, userInfos: 0 };

  /** Asks, and takes down what came with the moments around it. */
  async function take(ask: Ask, form: Readonly<Record<string, string>>, pod?: string): Promise<Issue> {
    const asked = clock.moment();
    const issue = await ask(form);
    const around = { issuer, pod, asked, came: clock.moment() };
    for (const [kind, jwt] of [['access', issue.access] as const, ['id', issue.id] as const]) {
      const audience = kind === 'access' ? 'design-api' : partner.clientId;
      if (jwt) issued.push({ kind, jwt, audience, kid: `${decodeProtectedHeader(jwt).kid}`, ...around });
    }
    return issue;
  }

  const code = (agent: UserAgent) => newCode(system, agent, discovery, partner);

  async function familyOfGateway(): Promise<void> {
    const ask = gatewayAsk(discovery, partner);
    let { refresh } = await take(ask, await code(openUserAgent(issuer)));
    while (!course.over) {
      const next = await take(ask, { grant_type: 'refresh_token', refresh_token: refresh });
      const answer = await send(discovery.userinfo_endpoint, {
        headers: { authorization: `Bearer ${next.access}` },
      });
      if (answer.status !== 200) throw new Error(`User-info answered ${answer.status} ${answer.text}`);
      course.userInfos += 1;
      refresh = next.refresh;
    }
  }

  async function familiesOfPod(name: string, address: string): Promise<void> {
    const ask = podAsk(address, partner);
    const agent = openUserAgent(issuer);
    while (!course.over) {
      let { refresh } = await take(ask, await code(agent), name);
      for (let times = 0; times < refreshesOfCode && !course.over; times += 1)
        ({ refresh } = await take(ask, { grant_type: 'refresh_token', refresh_token: refresh }, name));
    }
  }

  const families = Promise.all([
    ...Array.from({ length: familiesOfGateway }, familyOfGateway),
    ...system.pods.map(({ name, address }) => familiesOfPod(name, address)),
  ]);
  // Told of by `stop`.
  families.catch(() => {});
  return {
    issued,
    userInfos: () => course.userInfos,
    stop: async () => {
      course.over = true;
      await families;
    },
  };
}

async function newCode(
  { stack }: System,
  agent: UserAgent,
  discovery: Discovery,
  partner: Partner,
): Promise<Record<string, string>> {
  const start = await agent.visit(authorizeUrl(discovery.authorization_endpoint, partner));
  const { parameters } = await walk(agent, start, userWho(stack, 'typical season'));
  const [redirect_uri] = partner.redirectUris;
  return { grant_type: 'authorization_code', code: parameters.get('code') ?? '', redirect_uri };
}

function gatewayAsk(discovery: Discovery, partner: Partner): Ask {
  return async (form) => {
    const answer = tokensOf(await token(discovery.token_endpoint, partner, form));
    return { access: answer.access_token, id: answer.id_token, refresh: answer.refresh_token };
  };
}

function podAsk(address: string, partner: Partner): Ask {
  const pod = callService(TokenService, address);
  return async ({ grant_type = '', code = '', redirect_uri = '', refresh_token = '' }) => {
    const answer = await pod.exchangeToken({
      ...basic(partner),
      grantType: grant_type,
      code,
      redirectUri: redirect_uri,
      refreshToken: refresh_token,
      formEncoded: true,
    });
    return { access: answer.accessToken, id: answer.idToken, refresh: answer.refreshToken };
  };
}
