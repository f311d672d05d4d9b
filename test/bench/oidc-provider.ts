// npm oidc-provider as a subject. It is installed beside the cache of the local stack, never in this workspace.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory } from '@course-exchange/local-stack/run-directory';
import { basic } from '../support/flow.ts';
import type { StackFile } from '../support/stack-file.ts';
import type { Subject } from './subject.ts';

const version = '9.13.3';
const partner = { clientId: 'bench', clientSecret: 'bench-secret-of-a-provider-on-loopback' };
const redirect_uri = 'http://127.0.0.1:9099/callback';

function install(): string {
  const directory = join(cacheDirectory(), `bench-oidc-provider-${version}`);
  const entry = join(directory, 'node_modules/oidc-provider/lib/index.js');
  if (existsSync(entry)) return entry;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{ "private": true }\n');
  const wanted = ['--no-audit', '--no-fund', '--ignore-scripts', `oidc-provider@${version}`];
  execFileSync('npm', ['install', '--prefix', directory, ...wanted], { stdio: 'pipe' });
  return entry;
}

export async function startOidcProvider(stack: StackFile): Promise<Subject> {
  const server = fork(new URL('./oidc-provider-server.ts', import.meta.url), {
    // It writes warnings about its defaults.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      REDIS_URL: stack.redis ?? '',
      OIDC_PROVIDER: install(),
      CLIENT_ID: partner.clientId,
      CLIENT_SECRET: partner.clientSecret,
    },
  });
  const ended = once(server, 'exit').then(() => Promise.reject(new Error('oidc-provider does not start')));
  const [origin] = (await Promise.race([once(server, 'message'), ended])) as [string];
  const { authorization } = basic(partner);
  const post = (form: Readonly<Record<string, string>>) => ({ path: '/token', authorization, form });
  return {
    name: 'oidc-provider',
    origin,
    processes: { 'oidc-provider': server.pid ?? 0 },
    make: async (grant, count) => {
      server.send({ grant, count });
      return (await once(server, 'message'))[0] as string[];
    },
    request: (operation, secret) => {
      if (operation === 'refresh') return post({ grant_type: 'refresh_token', refresh_token: secret });
      if (operation !== 'exchange') return undefined;
      return post({ grant_type: 'authorization_code', code: secret, redirect_uri });
    },
    stop: async () => server.kill(),
  };
}
