// The two stores as members of the stack.
import { join } from 'node:path';
import { cacheDirectory } from './cache.ts';
import { postgresAnswers, postgresUrl, preparePostgres } from './embedded-postgres.ts';
import { prepareRedis, redisAnswers, redisUrl } from './embedded-redis.ts';
import type { Member } from './members.ts';
import { findRedis } from './redis-program.ts';
import type { RunDirectory } from './run-directory.ts';
import type { StackSecrets } from './secrets.ts';

export const database = 'course_exchange';

export async function postgresMember(
  run: RunDirectory,
  port: number,
  secrets: StackSecrets,
): Promise<Member> {
  const password = secrets.postgresSuperuser;
  const program = await preparePostgres({
    directory: join(run.data, 'postgres'),
    otherDirectory: run.otherPostgres,
    port,
    password,
    logFile: join(run.logs, 'postgres.log'),
  });
  const url = postgresUrl(port, 'postgres', password, 'postgres');
  return {
    program,
    address: `127.0.0.1:${port}`,
    problem: async () => ((await postgresAnswers(url, 0)) ? undefined : 'It does not answer.'),
  };
}

export async function redisMember(run: RunDirectory, port: number, secrets: StackSecrets): Promise<Member> {
  const program = prepareRedis({
    server: await findRedis(cacheDirectory()),
    directory: join(run.data, 'redis'),
    port,
    password: secrets.redis,
    logFile: join(run.logs, 'redis.log'),
  });
  const url = redisUrl(port, secrets.redis);
  return {
    program,
    address: `127.0.0.1:${port}`,
    problem: async () => ((await redisAnswers(url, 0)) ? undefined : 'It does not answer.'),
  };
}
