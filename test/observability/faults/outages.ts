// What is slow or away: a service that hangs, tables that are locked, a replica and services that are gone.
import { hasReplicas, until } from '../../stores/redis-servers.ts';
import { openCaller, unknownToken } from '../../support/caller.ts';
import { cloneFamilies } from '../../support/load/refresh-burst.ts';
import { atOnce, type Fault, get, meanwhile, openLogin, type Subject } from './fault.ts';

const both = (name: string) => [`${name} critical`, `${name} warning`] as const;

/** Of an answer: half a second is too much for a token, some of them for a login; one operation may take a second. */
const lateMs = 600;

const slowRedis: Fault = {
  fires: [...both('TokenLatency'), ...both('LoginLatency')],
  inject: async (subject, untilFired) => {
    const { caller, redisLink } = subject;
    const login = await openLogin(subject);
    redisLink.delay(lateMs);
    try {
      await untilFired(async () => {
        await Promise.all([atOnce(12, () => caller.refresh(unknownToken)), atOnce(8, () => login())]);
      });
    } finally {
      redisLink.delay(0);
    }
  },
};

/** A token and a path for a list of each size class. */
async function listsOf(subject: Subject): Promise<readonly (readonly [accessToken: string, path: string])[]> {
  const tokenOf = async (about: string) =>
    (await (await openCaller(subject.system.stack, about)).newTokens()).access_token;
  const medium = await tokenOf('an event of 730 designs');
  const { items } = (await get(subject, medium, '/api/events')).json() as { items: { id: string }[] };
  return [
    [await tokenOf('typical season'), '/api/events'],
    [medium, `/api/events/${items[0]?.id}/designs`],
    [await tokenOf('2,000 events'), '/api/events'],
  ];
}

const lockedTables: Fault = {
  fires: [
    ...['SmallListLatency', 'MediumListLatency', 'LargeListLatency', 'ResourceLatency'].flatMap(both),
    'PoolWaits warning',
    'Overload critical',
  ],
  inject: async (subject, untilFired) => {
    const { database } = subject;
    const lists = await listsOf(subject);
    const ask = (lane: number) => {
      const [accessToken = '', path = ''] = lists[lane % lists.length] ?? [];
      return get(subject, accessToken, path);
    };
    // Between the second that a large list may take and the time that a statement has, by Postgres' own clock.
    const lock = () =>
      database.query(`begin; lock table catalog.event_summaries, catalog.designs in access exclusive mode;
        select pg_sleep(1.05); rollback`);
    await meanwhile(36, ask, () => untilFired(lock));
  },
};

const replicaGone: Fault = {
  fires: ['RedisReplicas critical', ...both('TokenAvailability'), ...both('LoginAvailability')],
  inject: async (subject, untilFired) => {
    const { caller, redis, replica, system } = subject;
    const { refresh_token } = await caller.newTokens();
    const tokens = await cloneFamilies(`${system.stack.redis}`, refresh_token, 10);
    const login = await openLogin(subject);
    replica.kill('SIGKILL');
    try {
      // Until Redis refuses to write, a token is spent and not answered.
      await until('Redis has noticed', async () => /good_slaves:0/.test(await redis.info('replication')));
      await untilFired(async () => {
        await atOnce(tokens.length, (index) => caller.refresh(`${tokens[index]}`));
        await atOnce(10, () => login());
      });
    } finally {
      await replica.restart();
      await until('the replica follows', () => hasReplicas(redis));
    }
  },
};

const servicesGone: Fault = {
  fires: [
    'ProcessDown warning',
    'ServiceDown critical',
    ...both('ResourceAvailability'),
    'SigningKeyNotEverywhere critical',
  ],
  inject: async (subject, untilFired) => {
    const { caller, system } = subject;
    const { access_token } = await caller.newTokens();
    await system.kill('identity');
    await system.kill('design-catalog');
    let catalog: Promise<void> | undefined;
    try {
      const ask = () => atOnce(5, () => caller.events(access_token));
      await untilFired(ask, servicesGone.fires.slice(0, -1));
      // Alone it learns no key, and is not ready until identity is there: after all that this may take.
      catalog = system.start('design-catalog', 240_000);
      catalog.catch(() => {});
      await untilFired();
    } finally {
      await Promise.all([system.start('identity'), catalog ?? system.start('design-catalog')]);
      const statuses = async () => [
        (await caller.refresh(unknownToken)).status,
        (await caller.events(access_token)).status,
      ];
      await until('the gateway reaches both', async () => `${await statuses()}` === '400,200');
    }
  },
};

/** In this order: none may set off what a later one is about. */
export const outages = { slowRedis, replicaGone, servicesGone, lockedTables };
