// Ory Hydra as a subject, on the Postgres of ours: built by Go from its module when the cache has none, with its default
// settings but for JWT access tokens, which ES256 signs. Its login and consent application is this file.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheDirectory } from '@course-exchange/local-stack/cache';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import pg from 'pg';
import { basic } from '../support/flow.ts';
import { type Answer, send } from '../support/http.ts';
import { connectionsTo, formRequest, getRequest } from '../support/load/connection.ts';
import type { StackFile } from '../support/stack-file.ts';
import { exchanging, refreshing, type Subject, several } from './subject.ts';

const version = 'v2.3.0';
const partner = { clientId: 'bench', clientSecret: 'bench-secret-of-a-provider-on-loopback' };
const redirect_uri = 'http://127.0.0.1:9099/callback';

/** Minutes, the first time. */
function build(): string {
  const program = join(cacheDirectory(), `bench-hydra-${version}`);
  if (existsSync(program)) return program;
  const source = mkdtempSync(join(tmpdir(), 'course-exchange-hydra-'));
  const go = (cwd: string, ...words: string[]): string =>
    execFileSync('go', words, { cwd, encoding: 'utf8', stdio: 'pipe', maxBuffer: 1 << 28 });
  try {
    const module = JSON.parse(go(source, 'mod', 'download', '-json', `github.com/ory/hydra/v2@${version}`));
    cpSync(String(module.Dir), source, { recursive: true });
    execFileSync('chmod', ['-R', 'u+w', source]);
    // The module replaces its own client by a folder that modules leave out.
    go(source, 'mod', 'edit', '-dropreplace', 'github.com/ory/hydra-client-go/v2');
    go(source, 'build', '-buildvcs=false', '-mod=mod', '-o', program, '.');
    return program;
  } finally {
    rmSync(source, { recursive: true, force: true });
  }
}

async function makeDatabase(postgres: string): Promise<string> {
  const client = new pg.Client({ connectionString: postgres });
  await client.connect();
  await client.query('create database hydra');
  await client.end();
  const url = new URL(postgres);
  url.pathname = '/hydra';
  return `${url.href}?sslmode=disable`;
}

export async function startHydra(stack: StackFile): Promise<Subject> {
  const program = build();
  const { public: port, admin } = await choosePorts(['public', 'admin']);
  const origin = `http://127.0.0.1:${port}`;
  const adminOrigin = `http://127.0.0.1:${admin}/admin`;
  const environment = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    DSN: await makeDatabase(stack.postgres ?? ''),
    SECRETS_SYSTEM: 'a secret of a provider on loopback',
    URLS_SELF_ISSUER: origin,
    URLS_LOGIN: `${origin}/bench/login`,
    URLS_CONSENT: `${origin}/bench/consent`,
    STRATEGIES_ACCESS_TOKEN: 'jwt',
    SERVE_PUBLIC_HOST: '127.0.0.1',
    SERVE_PUBLIC_PORT: String(port),
    SERVE_ADMIN_HOST: '127.0.0.1',
    SERVE_ADMIN_PORT: String(admin),
    LOG_LEVEL: 'error',
    SQA_OPT_OUT: 'true',
  };
  execFileSync(program, ['migrate', 'sql', 'up', '-e', '--yes'], { env: environment, stdio: 'pipe' });
  const server = spawn(program, ['serve', 'all', '--dev'], { env: environment, stdio: 'ignore' });
  while ((await send(`${origin}/health/ready`).catch(() => undefined))?.status !== 200) {
    if (server.exitCode !== null) throw new Error(`Hydra ended with ${server.exitCode}`);
    await sleep(200);
  }
  await register(adminOrigin);
  const codeOf = (scope: string) => walk(origin, adminOrigin, scope);
  const connections = connectionsTo(origin);
  const { authorization } = basic(partner);
  const current: string[] = [];
  const post = (lane: number, form: Readonly<Record<string, string>>) =>
    connections(lane).ask(formRequest('/oauth2/token', form, authorization));
  const exchange = (lane: number, code: string) =>
    post(lane, { grant_type: 'authorization_code', code, redirect_uri });
  const family = async (lane: number) => {
    const { body } = await exchange(1_000 + lane, await codeOf('offline'));
    return String(JSON.parse(body.toString()).refresh_token);
  };
  const discovery = getRequest('/.well-known/openid-configuration');
  return {
    name: 'Hydra',
    processes: { Hydra: server.pid ?? 0 },
    prepare: async (operation, lanes) => {
      if (operation === 'refresh')
        return refreshing(
          current,
          lanes,
          (count) => several(count, family),
          (lane, refresh_token) => post(lane, { grant_type: 'refresh_token', refresh_token }),
        );
      if (operation === 'exchange')
        return exchanging((count) => several(count, () => codeOf('openid offline')), exchange);
      if (operation !== 'discovery') return undefined;
      return { ask: async (lane) => (await connections(lane).ask(discovery)).status };
    },
    stop: async () => {
      server.kill();
    },
  };
}

async function register(admin: string): Promise<void> {
  const json = { 'content-type': 'application/json' };
  const client = {
    client_id: partner.clientId,
    client_secret: partner.clientSecret,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    redirect_uris: [redirect_uri],
    scope: 'openid offline',
    token_endpoint_auth_method: 'client_secret_basic',
  };
  const keys = { alg: 'ES256', kid: 'bench', use: 'sig' };
  for (const [path, body] of [
    ['clients', client],
    ['keys/hydra.jwt.access-token', keys],
  ] as const) {
    const answer = await send(`${admin}/${path}`, { body: JSON.stringify(body), headers: json });
    if (answer.status !== 201) throw new Error(`Hydra answered ${answer.status} ${answer.text}`);
  }
}

/** From the authorization request to the code: a browser's cookies, and what the login application decides. */
async function walk(origin: string, admin: string, scope: string): Promise<string> {
  const cookies = new Map<string, string>();
  const visit = async (url: string): Promise<URL> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer: Answer = await send(url, { headers: { cookie } });
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return new URL(answer.headers.location ?? '', origin);
  };
  const accept = async (step: 'login' | 'consent', at: URL, decision: object): Promise<string> => {
    const challenge = at.searchParams.get(`${step}_challenge`) ?? '';
    const answer = await send(`${admin}/oauth2/auth/requests/${step}/accept?${step}_challenge=${challenge}`, {
      method: 'PUT',
      body: JSON.stringify(decision),
      headers: { 'content-type': 'application/json' },
    });
    return String(answer.json().redirect_to);
  };
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: partner.clientId,
    redirect_uri,
    scope,
    state: 'a state of the bench',
  });
  const login = await visit(`${origin}/oauth2/auth?${query}`);
  const consent = await visit(await accept('login', login, { subject: 'sub' }));
  const back = await visit(await accept('consent', consent, { grant_scope: scope.split(' ') }));
  const code = back.searchParams.get('code');
  if (code === null) throw new Error(`Hydra gave no code: ${back.search.slice(0, 300)}`);
  return code;
}
