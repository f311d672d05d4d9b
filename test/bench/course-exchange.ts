// Our services as a subject: the bundles of the images of this or of another checkout, on the local stack's stores and
// with its demo data, telemetry off unless told otherwise, and only errors in the log.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { authorizeUrl, basic, discover, logInAndAgree, token, tokensOf } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { connectionsTo, formRequest, getRequest } from '../support/load/connection.ts';
import { cloneFamilies } from '../support/load/refresh-burst.ts';
import { type DemoUser, partnerFor, userWho } from '../support/stack-file.ts';
import type { System, startSystem as startSystemHere } from '../support/system.ts';
import { openUserAgent } from '../support/user-agent.ts';
import { exchanging, type Operation, refreshing, type Subject, several, type Work } from './subject.ts';

const services = ['gateway', 'identity', 'design-catalog'] as const;

export interface CourseExchange extends Subject, Pick<System, 'stack'> {
  /** Of the demo user whom `about` names. */
  readonly accessToken: (about: string) => Promise<string>;
}

/** `checkout`: whose code runs; `telemetry`: what every service is told of it. */
export async function startCourseExchange(
  name: string,
  checkout: string,
  telemetry: Readonly<Record<string, string>> = { OTEL_METRICS_EXPORTER: 'none' },
): Promise<CourseExchange> {
  const { startSystem } = (await import(join(checkout, 'test/support/system.ts'))) as {
    readonly startSystem: typeof startSystemHere;
  };
  const bundles = mkdtempSync(join(tmpdir(), 'course-exchange-bench-'));
  execFileSync(process.execPath, [join(checkout, 'deploy/images/bundle.ts'), bundles, ...services]);
  const { stack, stop } = await startSystem({ LOG_LEVEL: 'error', ...telemetry }, { bundles });
  const { issuer } = stack;
  const discovery = await discover(issuer);
  const partner = partnerFor(stack, 'openid', 'email', 'profile');
  const client = basic(partner).authorization;
  // Most of an overload's wait while the capacity is measured.
  const connections = connectionsTo(issuer, { idleMs: 60_000 });
  const grants = grantsOf();

  function grantsOf() {
    const agents = Array.from({ length: 8 }, () => openUserAgent(issuer));
    let first: string | undefined;
    const codeOf = async (user: DemoUser, lane = 0): Promise<string> => {
      const agent = agents[lane] ?? openUserAgent(issuer);
      const start = await agent.visit(authorizeUrl(discovery.authorization_endpoint, partner));
      return (await logInAndAgree(agent, start, user)).parameters.get('code') ?? '';
    };
    const exchanged = async (user: DemoUser, lane = 0) =>
      tokensOf(await token(discovery.token_endpoint, partner, exchangeForm(await codeOf(user, lane))));
    return {
      codes: (count: number) => several(count, (lane) => codeOf(userWho(stack, 'no designs'), lane)),
      families: async (count: number) => {
        first ??= (await exchanged(userWho(stack, 'no designs'))).refresh_token;
        return cloneFamilies(stack.redis ?? '', first, count);
      },
      /** Of a user who logs in with a browser of their own. */
      accessToken: async (about: string) => {
        const [tokens] = await several(1, () => exchanged(userWho(stack, about), 99));
        return tokens?.access_token ?? '';
      },
    };
  }

  function exchangeForm(code: string) {
    return { grant_type: 'authorization_code', code, redirect_uri: partner.redirectUris[0] ?? '' };
  }

  const tokenPath = new URL(discovery.token_endpoint).pathname;
  const current: string[] = [];

  const post = (lane: number, form: Readonly<Record<string, string>>) =>
    connections(lane).ask(formRequest(tokenPath, form, client));

  async function getting(path: string, about?: string): Promise<Work> {
    const request = getRequest(
      path,
      about === undefined ? undefined : `Bearer ${await grants.accessToken(about)}`,
    );
    return { ask: async (lane) => (await connections(lane).ask(request)).status };
  }

  async function designsPath(): Promise<string> {
    const headers = { authorization: `Bearer ${await grants.accessToken('730 designs')}` };
    const { items } = (await send(`${issuer}/api/events`, { headers })).json() as {
      items: { id: string; designCount: number }[];
    };
    return `/api/events/${items.find(({ designCount }) => designCount === 730)?.id}/designs`;
  }

  const works: Readonly<Record<Operation, (lanes: number) => Promise<Work>>> = {
    refresh: (lanes) =>
      refreshing(current, lanes, grants.families, (lane, refresh_token) =>
        post(lane, { grant_type: 'refresh_token', refresh_token }),
      ),
    exchange: async () => exchanging(grants.codes, (lane, code) => post(lane, exchangeForm(code))),
    events12: () => getting('/api/events', 'typical season: 12'),
    events2000: () => getting('/api/events', '2,000 events'),
    designs500: async () => getting(await designsPath(), '730 designs'),
    userinfo: () => getting(new URL(discovery.userinfo_endpoint).pathname, 'typical season: 12'),
    discovery: () => getting('/.well-known/openid-configuration'),
  };
  return {
    name,
    stack,
    processes: Object.fromEntries(services.map((service) => [service, stack.processes?.[service] ?? 0])),
    prepare: (operation, lanes) => works[operation](lanes),
    accessToken: grants.accessToken,
    stop: async () => {
      await stop();
      rmSync(bundles, { recursive: true });
    },
  };
}
