// The images as a target, in containers: one of each service, a Redis, and a Postgres with a synchronous replica.
import { cutOff, join } from '../../containers/handles.ts';
import { type PostgresPair, startPostgresPair } from '../../containers/postgres.ts';
import { startStores, startSystem } from '../../containers/system.ts';
import { until } from '../../stores/redis-servers.ts';
import type { Target } from '../workload.ts';

export async function startContainers(): Promise<Target> {
  let pair!: PostgresPair;
  const stores = await startStores({
    postgres: async (network) => {
      pair = await startPostgresPair(network);
      return pair.primary;
    },
  });
  const { stack, containers, network } = await startSystem(stores);
  const partnerctl = async (...words: readonly string[]): Promise<void> => {
    const { exitCode, output } = await containers.identity.exec(['partnerctl', ...words]);
    if (exitCode !== 0) throw new Error(`partnerctl ${words.join(' ')}: ${output}`);
  };

  const faults: Target['faults'] = {
    'cut off': async (part) => {
      const name = part === 'every identity' ? 'identity' : (part as 'design-catalog' | 'postgres' | 'redis');
      await cutOff(network, containers[name]);
      return () => join(network, containers[name], name);
    },
    'replaced by its replica': async () => {
      await pair.killPrimary();
      return async () => {
        await pair.promoteReplica();
        await until('the audit log is whole', () => partnerctl('audit', 'verify').then(() => true));
      };
    },
  };
  return {
    stack,
    faults,
    withdraw: ({ email }, clientId) =>
      partnerctl('consent', 'withdraw', '--user', email, '--client', clientId, '--yes'),
  };
}
