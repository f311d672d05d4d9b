// Families of refresh tokens that are refreshed without pause: some through the gateway, which balances, and one with
// each identity process itself, which also exchanges a code now and then for the ID token.
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { decodeProtectedHeader } from 'jose';
import { openCaller } from '../support/caller.ts';
import { basic, tokensOf } from '../support/flow.ts';
import { callService } from '../support/grpc-client.ts';
import { send } from '../support/http.ts';
import type { Partner } from '../support/stack-file.ts';
import type { System } from '../support/system.ts';
import { openUserAgent } from '../support/user-agent.ts';
import type { AgedClock } from './aged-clock.ts';
import { liveFamilies } from './families.ts';
import type { IssuedToken, Look } from './key-sets.ts';

export type Traffic = Awaited<ReturnType<typeof startTraffic>>;

interface Issue {
  readonly access: string;
  readonly id?: string | undefined;
  readonly refresh: string;
}

type Ask = (form: Readonly<Record<string, string>>) => Promise<Issue>;

const familiesOfGateway = 3;
const refreshesOfCode = 5;

export async function startTraffic(system: System, clock: AgedClock) {
  const { issuer } = system.stack;
  const { discovery, partner, codeForm, ask: askGateway } = await openCaller(system.stack);
  const issued: IssuedToken[] = [];
  const course = { over: false, userInfos: 0 };

  /** Asks, and takes down what came with the moments around it. */
  async function take(ask: Ask, form: Readonly<Record<string, string>>, pod?: string): Promise<Issue> {
    const [asked, at] = [clock.moment(), performance.now()];
    const issue = await ask(form);
    const around = { issuer, pod, asked, came: clock.moment(), at };
    for (const [kind, jwt] of [['access', issue.access] as const, ['id', issue.id] as const]) {
      const audience = kind === 'access' ? 'design-api' : partner.clientId;
      if (jwt) issued.push({ kind, jwt, audience, kid: `${decodeProtectedHeader(jwt).kid}`, ...around });
    }
    return issue;
  }

  async function familyOfGateway(): Promise<void> {
    const ask: Ask = async (form) => {
      const answer = tokensOf(await askGateway(form));
      return { access: answer.access_token, id: answer.id_token, refresh: answer.refresh_token };
    };
    let { refresh } = await take(ask, await codeForm());
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

  function familyOfPod(name: string, address: string): () => Promise<void> {
    const ask = podAsk(address, partner);
    const agent = openUserAgent(issuer);
    return async () => {
      let { refresh } = await take(ask, await codeForm(agent), name);
      for (let times = 0; times < refreshesOfCode && !course.over; times += 1)
        ({ refresh } = await take(ask, { grant_type: 'refresh_token', refresh_token: refresh }, name));
    };
  }

  const lives = [
    ...Array.from({ length: familiesOfGateway }, () => familyOfGateway),
    ...system.pods.map(({ name, address }) => familyOfPod(name, address)),
  ];
  const families = Promise.all(lives.map((live) => liveFamilies(live, () => course.over)));
  // Told of by `stop`.
  families.catch(() => {});
  return {
    issued,
    /** Of tokens by the gateway alone. */
    userInfos: () => course.userInfos,
    /** Resolves when every family has had its last answer; rejects with the first answer that was not 200. */
    stop: async () => {
      course.over = true;
      await families;
    },
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
    });
    return { access: answer.accessToken, id: answer.idToken, refresh: answer.refreshToken };
  };
}

/** Whether the last tokens of the pod are by these two keys, and when the last that is not was asked for. */
export function signsWith({ issued }: Traffic, pod: string, kids: readonly string[]): Look {
  const last = (['access', 'id'] as const).map((kind) =>
    issued.findLast((token) => token.pod === pod && token.kind === kind),
  );
  const others = last.filter((token, index) => token?.kid !== kids[index]);
  return { at: Math.max(0, ...others.map((token) => token?.at ?? 0)), isThere: others.length === 0 };
}
