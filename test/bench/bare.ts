// The bare server as a subject: its process, on the stores of ours, and what its requests consume.
import { fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { type StackFile, userWho } from '../support/stack-file.ts';
import type { Subject } from './subject.ts';

export async function startBare(stack: StackFile): Promise<Subject> {
  const server = fork(new URL('./bare-server.ts', import.meta.url), {
    env: { ...process.env, REDIS_URL: stack.redis ?? '', POSTGRES_URL: stack.postgres ?? '' },
  });
  const [address] = (await once(server, 'message')) as [AddressInfo];
  const redis = new Redis(stack.redis ?? '');
  const owned = (path: string, about: string, more = '') => ({
    path: `${path}?owner=${encodeURIComponent(userWho(stack, about).sub)}${more}`,
  });
  return {
    name: 'bare',
    origin: `http://127.0.0.1:${address.port}`,
    processes: { bare: server.pid ?? 0 },
    make: async (grant, count) => {
      const writes = redis.pipeline();
      const made = Array.from({ length: count }, () => {
        const [family, secret] = [16, 32].map((size) => randomBytes(size).toString('base64url'));
        const hash = createHash('sha256').update(`${secret}`).digest('base64url');
        writes.hset(`bare-${grant}:{${family}}`, 'hash', hash);
        return `${family}${secret}`;
      });
      await writes.exec();
      return made;
    },
    request: (operation, secret) =>
      ({
        refresh: { path: '/token', form: { grant_type: 'refresh_token', refresh_token: secret } },
        exchange: { path: '/token', form: { grant_type: 'authorization_code', code: secret } },
        events12: owned('/events', 'typical season'),
        events2000: owned('/events', '2,000 events'),
        designs500: owned('/designs', '730 designs', '&event=show-2026-festival'),
      })[operation],
    stop: async () => {
      redis.disconnect();
      server.kill();
    },
  };
}
