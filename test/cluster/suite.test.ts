// Production on a real cluster, in the order of an environment's life: what it may reach and who may read it, then what is
// done to it under the workload.
import { beforeAll, describe, expect, test } from 'vitest';
import { playEachRow } from '../faults/each-row.ts';
import { table } from '../faults/table.ts';
import { startOnCluster } from '../faults/targets/cluster.ts';
import { send } from '../support/http.ts';
import { networkPaths } from './network-paths.ts';
import { components, podsOf, runInside } from './pods.ts';
import { installProduction, type Production } from './production.ts';

let installed: Production;

beforeAll(async () => {
  installed = await installProduction();
}, 600_000);

test('no port but the public one is reached, and no route but the public ones', async () => {
  const routes = ['/livez', '/readyz', '/healthz', '/metrics', '/operator'];
  for (const path of [...routes, '/identity.v1.TokenService/ExchangeToken'])
    expect([path, (await send(`${installed.stack.issuer}${path}`)).status]).toEqual([path, 404]);
});

describe.concurrent('what may be reached', () => {
  networkPaths(() => installed);
});

describe('under the workload', () => {
  playEachRow(table.cluster, () => startOnCluster(installed));
});

test('the services hold at most 300 MiB after all that', async () => {
  const script = `console.log(/VmRSS:\\s+(\\d+)/.exec(require('node:fs').readFileSync('/proc/1/status', 'utf8'))[1])`;
  for (const component of components)
    for (const { name } of await podsOf(installed.kube, component)) {
      const size = Number(await runInside(installed.kube, name, component, script)) / 1_024;
      console.log(`figure: ${name}: ${Math.round(size)} MiB resident at the end`);
      expect(size).toBeLessThan(300);
    }
});
