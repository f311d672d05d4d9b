// The proxy before the issuer: passes requests on as they are, plays one scenario at a time, and judges by what the client
// asks next whether it keeps its duties.
import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { breachOf } from './conduct.ts';
import type { Breach } from './duties.ts';
import type { Played, Scenario, Tools } from './plays.ts';
import { type Answer, type Asked, describe, endpointOf, jsonOf, outcomeOf } from './request.ts';
import { type ScenarioName, scenarios } from './scenarios.ts';
import { newSigningKey } from './tokens.ts';

export interface Verdict {
  readonly breaches: readonly Breach[];
  /** False when no request came at which the scenario is played. */
  readonly played: boolean;
}

export interface Rehearsal {
  onPlayed: () => void;
  /** Told of each breach when it happens. */
  onBreach: (breach: Breach) => void;
  /** Waits for the requests under way, and judges. */
  readonly end: () => Promise<Verdict>;
}

export interface RehearsalProxy {
  readonly port: number;
  readonly rehearse: (name: ScenarioName) => Rehearsal;
  readonly stop: () => Promise<void>;
}

interface Play {
  readonly scenario: Scenario;
  readonly all: Asked[];
  readonly breaches: Breach[];
  played: Played | undefined;
  readonly rehearsal: Rehearsal;
}

/** `target`: origin of the gateway, known by the first request at the latest. `port` 0 takes a free one. */
export async function startRehearsalProxy(
  target: () => string,
  { host = '127.0.0.1', port = 0 } = {},
): Promise<RehearsalProxy> {
  const [known, foreign] = [newSigningKey('rehearsal'), newSigningKey('rehearsal')];
  const agent = new Agent({ keepAlive: true });
  let play: Play | undefined;

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await read(incoming);
    const now = play;
    let own: Promise<Answer> | undefined;
    const ask = async () => {
      const answer = await forwarded(asked, target(), agent);
      return asked.endpoint === 'key set' ? withKey(answer) : answer;
    };
    const forward = () => (own ??= ask());
    const leaving = new AbortController();
    response.once('close', () => {
      asked.outcome ??= { kind: 'nothing', at: performance.now() };
      leaving.abort();
    });
    const tools = {
      known,
      foreign,
      hold: (ms: number) => sleep(ms, undefined, { signal: leaving.signal }).catch(() => {}),
    };
    const given = now ? await playAt(now, asked, forward, tools) : await forward();
    asked.outcome ??= outcomeOf(given, performance.now());
    deliver(given, asked.method, response);
  }

  const withKey = (own: Answer): Answer => {
    const set = jsonOf(own.body) as { keys?: unknown[] } | undefined;
    if (!Array.isArray(set?.keys)) return own;
    return { ...own, body: Buffer.from(JSON.stringify({ ...set, keys: [...set.keys, known.jwk] })) };
  };

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  await once(server.listen(port, host), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    rehearse: (name) => {
      if (play) throw new Error('A rehearsal is under way: play one after the other.');
      const mine = newPlay(scenarios[name], () => {
        play = undefined;
      });
      play = mine;
      return mine.rehearsal;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      agent.destroy();
    },
  };
}

function newPlay(scenario: Scenario, ended: () => void): Play {
  const play: Play = {
    scenario,
    all: [],
    breaches: [],
    played: undefined,
    rehearsal: {
      onPlayed: () => {},
      onBreach: () => {},
      end: async () => {
        for (let tries = 0; tries < 100 && play.all.some(({ outcome }) => !outcome); tries += 1)
          await sleep(50);
        ended();
        const own = play.played && scenario.atEnd?.(play.played);
        if (own) play.breaches.push(own);
        if (scenario.tokens === 'used' && play.played && !play.all.some((one) => usesTokens(one, play)))
          play.breaches.push({ duty: scenario.duty, seen: 'The tokens were never used.' });
        return { breaches: play.breaches, played: play.played !== undefined };
      },
    },
  };
  return play;
}

/** Judges the request, then answers it by the scenario or by the server. */
async function playAt(
  play: Play,
  asked: Asked,
  forward: () => Promise<Answer>,
  tools: Tools,
): Promise<Answer> {
  const { scenario, all, played } = play;
  asked.number = all.length + 1;
  judge(play, asked);
  all.push(asked);
  const isDue = played ? scenario.repeats?.(asked, played) : scenario.on.includes(asked.endpoint);
  if (!isDue) return forward();
  let own: Answer | undefined;
  const given = await scenario.act(asked, async () => (own = await forward()), tools, played);
  if (given !== undefined && !play.played) {
    play.played = { asked, own };
    play.rehearsal.onPlayed();
  }
  return given ?? forward();
}

function judge(play: Play, asked: Asked): void {
  const { scenario, all, played } = play;
  const general = breachOf(asked, all);
  const seen =
    played &&
    (scenario.breaks?.(asked, played) ??
      (scenario.tokens === 'unused' && usesTokens(asked, play)
        ? `${describe(asked)} used a token of the answer that was to be refused.`
        : undefined));
  const breach = general ?? (seen ? { duty: scenario.duty, seen } : undefined);
  if (breach === undefined) return;
  play.breaches.push(breach);
  play.rehearsal.onBreach(breach);
}

function usesTokens(asked: Asked, { played }: Play): boolean {
  const tokens = jsonOf(played?.own?.body ?? Buffer.alloc(0)) as Record<string, string> | undefined;
  if (!tokens) return false;
  const presented = asked.bearer ?? asked.form.get('refresh_token');
  return presented !== null && [tokens.access_token, tokens.refresh_token].includes(presented);
}

async function read(incoming: IncomingMessage): Promise<Asked> {
  const at = performance.now();
  const body = Buffer.concat(await Array.fromAsync(incoming));
  const { headers, method = 'GET' } = incoming;
  const url = new URL(incoming.url ?? '/', `http://${headers.host}`);
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded');
  const form = new URLSearchParams(isForm ? body.toString() : '');
  const bearer = /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const endpoint = endpointOf(url, form);
  return { number: 0, at, method, url, headers, body, form, endpoint, bearer, outcome: undefined };
}

async function forwarded(
  { method, url, headers, body }: Asked,
  target: string,
  agent: Agent,
): Promise<Answer> {
  // A body that a scenario changes must not be compressed.
  const { 'accept-encoding': _, connection: __, ...passed } = headers;
  const outgoing = send(new URL(url.pathname + url.search, target), { method, agent, headers: passed });
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const raw = answer.rawHeaders;
  const pairs = Array.from({ length: raw.length / 2 }, (_, nth) => [raw[2 * nth], raw[2 * nth + 1]]);
  return {
    status: answer.statusCode ?? 502,
    headers: pairs as [string, string][],
    body: Buffer.concat(await Array.fromAsync(answer)),
  };
}

const framing = ['connection', 'keep-alive', 'transfer-encoding'];

function deliver(answer: Answer, method: string, response: ServerResponse): void {
  const { status, body, delivered } = answer;
  if (delivered === 'none' || response.destroyed) return void response.destroy();
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  const length = hasBody ? { 'content-length': body.length } : {};
  response.writeHead(status, { ...headersOf(answer), ...length });
  if (delivered === 'half') response.write(body.subarray(0, body.length / 2), () => response.destroy());
  else response.end(hasBody ? body : undefined);
}

/** Without those that belong to the connection to the gateway. */
function headersOf({ headers }: Answer): OutgoingHttpHeaders {
  const kept = new Map<string, string[]>();
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (!framing.includes(lower)) kept.set(lower, [...(kept.get(lower) ?? []), value]);
  }
  return Object.fromEntries(kept);
}
