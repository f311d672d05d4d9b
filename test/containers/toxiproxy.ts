// Toxiproxy between every two processes that speak with one another: what it does to a pair is told by its HTTP interface.
import { GenericContainer, type StartedNetwork, Wait } from 'testcontainers';
import { type Pair, pairs } from './pairs.ts';
import { toxiproxyImage } from './settings.ts';

const api = 8474;
const firstPort = 8666;
const names = Object.keys(pairs) as Pair[];

/** What can be done to a pair, each with its toxics in the words of Toxiproxy; none of them: nobody listens. */
export const harms = {
  'refused connections': [],
  'a black hole': [
    { type: 'timeout', stream: 'upstream', attributes: { timeout: 0 } },
    { type: 'timeout', stream: 'downstream', attributes: { timeout: 0 } },
  ],
  'answers that vanish': [{ type: 'timeout', stream: 'downstream', attributes: { timeout: 0 } }],
  'reset connections': [{ type: 'reset_peer', stream: 'upstream', attributes: { timeout: 0 } }],
  '300 ms of latency': [{ type: 'latency', stream: 'downstream', attributes: { latency: 300 } }],
} as const;
export type Harm = keyof typeof harms;

export interface Proxies {
  /** Where each caller finds its callee now. */
  readonly addresses: Readonly<Record<Pair, string>>;
  readonly harm: (pair: Pair, harm: Harm) => Promise<void>;
  /** Everything as if there were no proxy. */
  readonly heal: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The callees need not be there yet. */
export async function startProxies(network: StartedNetwork): Promise<Proxies> {
  const container = await new GenericContainer(toxiproxyImage)
    .withNetwork(network)
    .withNetworkAliases('toxiproxy')
    .withExposedPorts(api)
    .withWaitStrategy(Wait.forHttp('/version', api).forStatusCode(200))
    .start();
  const base = `http://${container.getHost()}:${container.getMappedPort(api)}`;

  async function post(path: string, body: object): Promise<void> {
    const answer = await fetch(`${base}${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`Toxiproxy answers ${path} with ${answer.status} ${await answer.text()}`);
  }

  const proxies = names.map((pair, index) => ({
    name: nameOf(pair),
    listen: `0.0.0.0:${firstPort + index}`,
    upstream: pairs[pair],
    enabled: true,
  }));
  await post('/populate', proxies);
  return {
    addresses: Object.fromEntries(
      names.map((pair, index) => [pair, `toxiproxy:${firstPort + index}`]),
    ) as Record<Pair, string>,
    harm: async (pair, harm) => {
      if (harm === 'refused connections') await post(`/proxies/${nameOf(pair)}`, { enabled: false });
      for (const toxic of harms[harm]) await post(`/proxies/${nameOf(pair)}/toxics`, toxic);
    },
    heal: () => post('/reset', {}),
    close: async () => {
      await container.stop();
    },
  };
}

function nameOf(pair: Pair): string {
  return pair.replace('–', '-');
}
