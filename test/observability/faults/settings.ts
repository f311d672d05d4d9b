// Faults that come slowly, and that only an alert shows: settings of Redis, secrets and keys that age, an audit log that
// loses its end.
import { seriesName } from '@course-exchange/observability/promql';
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { until } from '../../stores/redis-servers.ts';
import type { Fault } from './fault.ts';

/** Bytes: what is left of it, a seventh, is more than others write meanwhile. */
const maxMemory = 100_000_000;

const redisSettings: Fault = {
  fires: ['RedisSettings warning', 'RedisMemory critical'],
  inject: async ({ redis }, untilFired) => {
    const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
    const filler = 'filler';
    try {
      await redis.setrange(filler, Math.round(maxMemory * 0.85) - used, 'x');
      await redis.config('SET', 'appendfsync', 'everysec', 'maxmemory', maxMemory);
      await untilFired();
    } finally {
      await Promise.all([redis.config('SET', 'appendfsync', 'always', 'maxmemory', 0), redis.del(filler)]);
    }
  },
};

const secretThatExpires: Fault = {
  fires: ['ClientSecretExpires critical', 'ClientSecretExpires warning'],
  inject: async ({ database }, untilFired) => {
    try {
      await database.query(`update client_secrets set expires_at = now() + interval '1 day'`);
      await untilFired();
    } finally {
      await database.query('update client_secrets set expires_at = null');
    }
  },
};

const keyThatStays: Fault = {
  fires: ['SigningKeyOld warning'],
  inject: async ({ database }, untilFired) => {
    const aged = (by: string) =>
      database.query(
        `update signing_keys set published_at = published_at + $1, activated_at = activated_at + $1`,
        [by],
      );
    await aged('-101 days');
    try {
      await untilFired();
    } finally {
      await aged('101 days');
    }
  },
};

const auditLogCut: Fault = {
  fires: ['AuditFell critical'],
  inject: async ({ database, prometheus }, untilFired) => {
    const append = () =>
      database.query(
        `insert into audit_log values (1000, now(), 'test', 'client.edit', 'client:none', null, 'test', '[]', sha256(''))
          on conflict do nothing`,
      );
    await append();
    try {
      await until('the entry is scraped', async () => {
        const newest = await prometheus.query(`${seriesName(runtimeMetrics.auditSequence)} == 1000`);
        return newest.length > 0;
      });
      // What keeps the log append-only does not bind a superuser.
      await database.query(`begin; set local session_replication_role = replica;
        delete from audit_log where sequence = 1000; commit`);
      await untilFired();
    } finally {
      await append();
    }
  },
};

export const settingFaults = { redisSettings, secretThatExpires, keyThatStays, auditLogCut };
