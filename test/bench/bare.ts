// The bare server as a subject: its process, on the stores of ours, and what its requests consume.
import { fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { connectionsTo, formRequest, getRequest } from '../support/load/connection.ts';
import { type StackFile, userWho } from '../support/stack-file.ts';
import { exchanging, type Operation, refreshing, type Subject, type Work } from './subject.ts';

export async function startBare(stack: StackFile): Promise<Subject> {
  const server = fork(new URL('./bare-server.ts', import.meta.url), {
    env: { ...process.env, REDIS_URL: stack.redis ?? '', POSTGRES_URL: stack.postgres ?? '' },
  });
  const [address] = (await once(server, 'message')) as [AddressInfo];
  const connections = connectionsTo(`http://127.0.0.1:${address.port}`);
  const redis = new Redis(stack.redis ?? '');
  const current: string[] = [];

  async function tokens(prefix: 'bare-rt' | 'bare-code', count: number): Promise<string[]> {
    const made = Array.from({ length: count }, () => ({
      family: randomBytes(16).toString('base64url'),
      secret: randomBytes(32).toString('base64url'),
    }));
    const writes = redis.pipeline();
    for (const { family, secret } of made) {
      const hash = createHash('sha256').update(secret).digest('base64url');
      writes.hset(`${prefix}:{${family}}`, 'hash', hash);
    }
    await writes.exec();
    return made.map(({ family, secret }) => `${family}${secret}`);
  }

  const post = (lane: number, form: Readonly<Record<string, string>>) =>
    connections(lane).ask(formRequest('/token', form));

  function getting(path: string, about: string, more = '', authorization?: string): Work {
    const owner = encodeURIComponent(userWho(stack, about).sub);
    const request = getRequest(`${path}?owner=${owner}${more}`, authorization);
    return { ask: async (lane) => (await connections(lane).ask(request)).status };
  }

  async function userInfo(): Promise<Work> {
    const { body } = await connections(0).ask(getRequest('/access-token'));
    return getting('/userinfo', 'typical season: 12', '', `Bearer ${body}`);
  }

  const works: Readonly<Record<Operation, (lanes: number) => Promise<Work>>> = {
    refresh: (lanes) =>
      refreshing(
        current,
        lanes,
        (count) => tokens('bare-rt', count),
        (lane, refresh_token) => post(lane, { grant_type: 'refresh_token', refresh_token }),
      ),
    exchange: async () =>
      exchanging(
        (count) => tokens('bare-code', count),
        (lane, code) => post(lane, { grant_type: 'authorization_code', code }),
      ),
    events12: async () => getting('/events', 'typical season: 12'),
    events2000: async () => getting('/events', '2,000 events'),
    designs500: async () => getting('/designs', '730 designs', '&event=show-2026-festival'),
    userinfo: userInfo,
    discovery: async () => getting('/discovery', 'no designs'),
  };
  return {
    name: 'bare',
    processes: { bare: server.pid ?? 0 },
    prepare: (operation, lanes) => works[operation](lanes),
    stop: async () => {
      redis.disconnect();
      server.kill();
    },
  };
}
