// What requests cost in the stores: CPU of Postgres and Redis, what they write down, and what a family takes in memory.
import { statOf } from '@course-exchange/local-stack/shutdown';
import { Redis } from 'ioredis';
import pg from 'pg';
import { table } from '../generate/page.ts';
import { childrenOf } from '../support/system.ts';
import type { CourseExchange } from './course-exchange.ts';
import { closedLoop } from './load.ts';
import { cpuMicroseconds } from './processes.ts';
import { type Operation, operations } from './subject.ts';

const lanes = 8;
const measured: readonly Operation[] = [
  'refresh',
  'exchange',
  'events12',
  'events2000',
  'designs500',
  'userinfo',
];
const families = 20_000;

/** A table of all, and a sentence about memory. */
export async function storeCosts({ stack, prepare, processes }: CourseExchange): Promise<string> {
  const redis = new Redis(stack.redis ?? '');
  const client = new pg.Client({ connectionString: stack.postgres ?? '' });
  client.on('error', () => {});
  await client.connect();
  const info = async (name: string) =>
    Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(await redis.info())?.[1] ?? Number.NaN);
  /** CPU of Postgres, Redis and the services; bytes of WAL and of the append-only file. */
  const used = async (): Promise<readonly number[]> => {
    const { rows } = await client.query<{ wal: string }>(`select pg_current_wal_lsn() - '0/0' as wal`);
    return [
      cpuOfPostgres(stack.processes?.postgres ?? 0),
      cpuMicroseconds([stack.processes?.redis ?? 0]),
      cpuMicroseconds(Object.values(processes)),
      Number(rows[0]?.wal),
      await info('aof_current_size'),
    ];
  };
  const lines: string[][] = [];
  for (const operation of measured) {
    const work = await prepare(operation, lanes);
    if (work === undefined) continue;
    const burst = async (ms: number) => {
      await work.supply?.(250);
      const before = await used();
      const { requests, perSecond } = await closedLoop(
        lanes,
        work.ask,
        work.supply ? { count: 250 } : { ms },
        work.renew,
      );
      return [perSecond, ...(await used()).map((value, index) => (value - (before[index] ?? 0)) / requests)];
    };
    await burst(3_000);
    lines.push([
      operations[operation],
      ...(await burst(6_000)).map((value) => Math.round(value).toLocaleString('en')),
    ]);
  }
  const before = await info('used_memory');
  await prepare('refresh', families);
  const perFamily = ((await info('used_memory')) - before) / families;
  redis.disconnect();
  await client.end();
  const heads = [
    'operation',
    'in a second',
    'Postgres, µs',
    'Redis, µs',
    'services, µs',
    'WAL, bytes',
    'AOF, bytes',
  ];
  return `${table(heads, lines)}\n\nA refresh family takes ${Math.round(perFamily)} bytes of Redis' memory.`;
}

/** Microseconds of Postgres and its children: each connection has one. Those that ended are counted in ticks. */
export function cpuOfPostgres(pid: number): number {
  const ticks = (statOf(pid) ?? []).slice(13, 15).reduce((sum, value) => sum + Number(value), 0);
  const alive = [pid, ...childrenOf(pid)].map((one) => {
    try {
      return cpuMicroseconds([one]);
    } catch {
      return 0; // Gone since it was listed.
    }
  });
  return alive.reduce((sum, one) => sum + one, 10_000 * ticks);
}
