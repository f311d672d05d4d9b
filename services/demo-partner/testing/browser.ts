// A demo partner under test and a browser of one tab: keeps cookies, follows nothing by itself.
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { createApp } from '../src/app.ts';
import { openDatabase } from '../src/database.ts';
import { createLogger, createPartner, type Partner } from '../src/partner.ts';
import { startIssuer, type TestIssuer } from './issuer.ts';

export interface Bench {
  readonly issuer: TestIssuer;
  readonly file: string;
  readonly log: string[];
  readonly clock: { now: number };
  app: Awaited<ReturnType<typeof createApp>>;
  partner: Partner;
  /** Closes the app and starts it again over the same file. */
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function createBench(): Promise<Bench> {
  const directory = mkdtempSync(join(tmpdir(), 'demo-partner-'));
  const issuer = await startIssuer(Date.now);
  const file = join(directory, 'partner.sqlite');
  const log: string[] = [];
  const clock = { now: Date.now() };
  let database: DatabaseSync;
  const start = async () => {
    database = openDatabase(file);
    const registration = {
      ISSUER: issuer.issuer,
      CLIENT_ID: 'partner',
      CLIENT_SECRET: 'secret-canary',
      SCOPES: 'openid email profile',
      PUBLIC_URL: 'http://127.0.0.1:4000',
      TOKEN_ENCRYPTION_KEY: Buffer.alloc(32, 7),
    };
    const partner = createPartner(registration, {
      database,
      logger: createLogger('debug', { write: (line) => void log.push(line) }),
      now: () => clock.now,
      sleep: async () => undefined,
      randomBytes,
      random: () => 0.5,
      newRequestId: randomUUID,
    });
    return { partner, app: await createApp(partner) };
  };
  const bench: Bench = {
    issuer,
    file,
    log,
    clock,
    ...(await start()),
    restart: async () => {
      await bench.app.close();
      database.close();
      Object.assign(bench, await start());
    },
    close: async () => {
      await bench.app.close();
      database.close();
      issuer.close();
      rmSync(directory, { recursive: true });
    },
  };
  return bench;
}

export interface Page {
  readonly status: number;
  readonly location: string;
  readonly text: string;
}

export function createBrowser(bench: Bench) {
  const cookies = new Map<string, string>();
  const send = async (method: 'GET' | 'POST', url: string, payload?: string): Promise<Page> => {
    const answer = await bench.app.inject({
      method,
      url,
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(payload === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(payload === undefined ? {} : { payload }),
    });
    for (const { name, value } of answer.cookies) cookies.set(name, value);
    return { status: answer.statusCode, location: answer.headers.location ?? '', text: answer.body };
  };
  const get = (url: string) => send('GET', url);
  /** Begins a flow; the issuer will put its nonce into the ID token. */
  const begin = async (to = '/events') => {
    const { location } = await get(`/connect?to=${encodeURIComponent(to)}`);
    const query = new URL(location).searchParams;
    bench.issuer.nonce = query.get('nonce') ?? '';
    return query;
  };
  return {
    cookies,
    get,
    begin,
    connect: async (to?: string) => get(`/callback?code=code-canary&state=${(await begin(to)).get('state')}`),
    post: async (url: string) => {
      const token = /name="form_token" value="([^"]+)"/.exec((await get('/')).text)?.[1] ?? '';
      return send('POST', url, `form_token=${token}`);
    },
    send,
  };
}
