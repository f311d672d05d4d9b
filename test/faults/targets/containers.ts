// The images as a target, in containers: one of each service, a Redis, and a Postgres with a synchronous replica.
import { demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { cutOff, join } from '../../containers/handles.ts';
import { type PostgresPair, startPostgresPair } from '../../containers/postgres.ts';
import { startStores, startSystem } from '../../containers/system.ts';
import { until } from '../../stores/redis-servers.ts';
import { type Faults, strikeWith, type Target } from './target.ts';

/** What an operator would miss, a row for each. Of who changes their mind meanwhile, the history knows. */
const keptRows = `select 'client ' || c::text as row from identity.clients c
  union all select 'consent ' || c::text from identity.consents c where sub = '${demoUsers.typical.sub}'
  union all select 'key ' || kid || state from identity.signing_keys
  union all select 'audit ' || a::text from identity.audit_log a`;

export async function startContainers(): Promise<Target> {
  let pair!: PostgresPair;
  const stores = await startStores({
    postgres: async (network) => {
      pair = await startPostgresPair(network);
      return pair;
    },
  });
  const { stack, containers, network } = await startSystem(stores);
  const partnerctl = async (...words: readonly string[]): Promise<void> => {
    const { exitCode, output } = await containers.identity.exec(['partnerctl', ...words]);
    if (exitCode !== 0) throw new Error(`partnerctl ${words.join(' ')}: ${output}`);
  };
  const kept = async () => (await pair.query(keptRows)).map(({ row }) => `${row}`);

  const faults: Faults = {
    'cut off': async (part) => {
      const name = part === 'every identity' ? 'identity' : (part as 'design-catalog' | 'postgres' | 'redis');
      await cutOff(network, containers[name]);
      return () => join(network, containers[name], name);
    },
    'out of disk': () => pair.fillDisk(),
    'replaced by its replica': async () => {
      const before = await kept();
      await pair.killPrimary();
      return async () => {
        await pair.promoteReplica();
        const after = new Set(await kept());
        const lost = before.filter((row) => !after.has(row));
        if (lost.length > 0) throw new Error(`Acknowledged and lost: ${lost.join('; ')}`);
        await until('the audit log is whole', () => partnerctl('audit', 'verify').then(() => true));
      };
    },
  };
  return {
    stack,
    strike: (row) => strikeWith(faults, row),
    withdraw: ({ email }, clientId) =>
      partnerctl('consent', 'withdraw', '--user', email, '--client', clientId, '--yes'),
    // The setup of the suite removes all.
    stop: async () => {},
  };
}
