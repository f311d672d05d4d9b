// The proxy before the issuer: passes requests on as they are, plays one scenario at a time, and checks what the client
// asks next whether it keeps its duties.
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { urlToHttpOptions } from 'node:url';
import { breachOf } from './conduct.ts';
import type { Breach } from './duties.ts';
import { newSigningKey, type Played, type Scenario, type Tools } from './plays.ts';
import { type Answer, type Asked, describe, endpointOf, jsonOf, outcomeOf } from './request.ts';
import { type ScenarioName, scenarios } from './scenarios.ts';

export interface Verdict {
  readonly breaches: readonly Breach[];
  /** False when no request came at which the scenario is played. */
  readonly played: boolean;
}

/** Called when it happens. */
interface Listeners {
  readonly onPlayed?: () => void;
  readonly onBreach?: (breach: Breach) => void;
}

export interface RehearsalProxy {
  readonly port: number;
  /** Plays a scenario until the function that it returns is called, which waits for the requests in flight and gives the verdict. */
  readonly rehearse: (name: ScenarioName, listeners?: Listeners) => () => Promise<Verdict>;
  readonly stop: () => Promise<void>;
}

/** As the gateway: a client never sends into a connection that is being closed. */
const keepAliveMs = 620_000;

interface Play extends Listeners {
  readonly scenario: Scenario;
  readonly all: Asked[];
  readonly breaches: Breach[];
  played?: Played;
}

/** Of a request; the gateway takes less. */
const longestBody = 1024 * 1024;

/**
 * `target`: origin of the gateway, known by the first request at the latest. `port` 0 takes a free one. It also answers
 * to the `issuer`'s host, not only to the loopback address's.
 */
export async function startRehearsalProxy(
  target: () => string,
  port = 0,
  issuer = 'http://localhost',
): Promise<RehearsalProxy> {
  const [known, foreign] = [newSigningKey('rehearsal'), newSigningKey('rehearsal')];
  const agent = new Agent({ keepAlive: true });
  let play: Play | undefined;

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = isForHost(incoming, new URL(issuer).hostname) ? await read(incoming) : 421;
    if (typeof asked === 'number') {
      response.writeHead(asked, { connection: 'close' }).end();
      return;
    }
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

  const server = createServer({ keepAliveTimeout: keepAliveMs }, (incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    rehearse: (name, listeners = {}) => {
      if (play) throw new Error('A rehearsal is under way: play one after the other.');
      const mine: Play = { ...listeners, scenario: scenarios[name], all: [], breaches: [] };
      play = mine;
      return async () => {
        for (let tries = 0; tries < 100 && mine.all.some(({ outcome }) => !outcome); tries += 1)
          await sleep(50);
        play = undefined;
        return verdictOn(mine);
      };
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      agent.destroy();
    },
  };
}

function verdictOn(play: Play): Verdict {
  const { scenario, all, breaches, played } = play;
  const own = played && scenario.atEnd?.(played);
  if (own) breaches.push(own);
  if (scenario.tokens === 'used' && play.played && !all.some((one) => usesTokens(one, play)))
    breaches.push({ duty: scenario.duty, seen: 'The tokens were never used.' });
  return { breaches, played: played !== undefined };
}

/** Evaluates the request, then answers it by the scenario or by the server. */
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
    play.onPlayed?.();
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
  play.onBreach?.(breach);
}

function usesTokens(asked: Asked, { played }: Play): boolean {
  const tokens = jsonOf(played?.own?.body ?? Buffer.alloc(0)) as Record<string, string> | undefined;
  if (!tokens) return false;
  const presented = asked.bearer ?? asked.form.get('refresh_token');
  return presented !== null && [tokens.access_token, tokens.refresh_token].includes(presented);
}

/** A page of another name that leads to the loopback address may not ask (DNS rebinding). */
function isForHost({ headersDistinct: { host = [] } }: IncomingMessage, issuer: string): boolean {
  const [, name = ''] = /^([a-z0-9.-]+|\[::1\])(?::\d+)?$/i.exec(host.join()) ?? [];
  return ['127.0.0.1', 'localhost', '[::1]', issuer].includes(name.toLowerCase());
}

/** The status of a refusal if the body is too long. */
async function read(incoming: IncomingMessage): Promise<Asked | number> {
  const at = performance.now();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    length += (chunk as Buffer).length;
    if (length > longestBody) return 413;
    chunks.push(chunk as Buffer);
  }
  const body = Buffer.concat(chunks);
  const { headers, method = 'GET', url: path = '/' } = incoming;
  // Only a path has an endpoint.
  const url = new URL(path.startsWith('/') ? `http://${headers.host}${path}` : 'http://localhost/*');
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded');
  const form = new URLSearchParams(isForm ? body.toString() : '');
  const bearer = /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const endpoint = endpointOf(url, form);
  return { number: 0, at, method, path, url, headers, body, form, endpoint, bearer, outcome: undefined };
}

async function forwarded(asked: Asked, target: string, agent: Agent): Promise<Answer> {
  const { method, path, headers, body } = asked;
  // A body that a scenario changes must not be compressed.
  const { 'accept-encoding': _, connection: __, ...passed } = headers;
  const outgoing = send({ ...urlToHttpOptions(new URL(target)), path, method, agent, headers: passed });
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

/** Headers that belong to the connection to the gateway. */
const framing = ['connection', 'keep-alive', 'transfer-encoding'];

function deliver(answer: Answer, method: string, response: ServerResponse): void {
  const { status, headers, body, delivered } = answer;
  if (delivered === 'none' || response.destroyed) return void response.destroy();
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  const ours = hasBody ? [...framing, 'content-length'] : framing;
  const passed = headers.filter(([name]) => !ours.includes(name.toLowerCase())).flat();
  response.writeHead(status, hasBody ? [...passed, 'content-length', `${body.length}`] : passed);
  if (delivered === 'half') response.write(body.subarray(0, body.length / 2), () => response.destroy());
  else response.end(hasBody ? body : undefined);
}
