// Secrets that change while partners go on: the certificates of all ports, authority and all, and a database account.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { makeAuthority, signCertificate } from './certificates.ts';
import { type Environment, privatePortCertificates } from './environment.ts';
import { figure } from './figures.ts';
import { eventually } from './kube.ts';
import { expectNoFailure, underLoad } from './load.ts';
import { allPods, type Component, components, type Pod, podsOf, runInside } from './pods.ts';
import { release, runDirectory } from './settings.ts';
import { secret } from './store-manifests.ts';
import { connectionAgeSeconds, secretNames, secretsDirectory } from './values.ts';

export function rotations(environment: () => Environment): void {
  describe('Secrets are followed without a restart and without a failure', () => {
    test('certificates of all ports, to those of a new authority', async () => {
      const before = await restartsOf(environment());
      const begun = new Date();
      const [old, renewed] = [await trustedBy(environment()), newAuthority()];
      const both = `${old}${renewed.text}`;
      const serials: string[][] = [];
      const report = await underLoad(environment(), 'load: new authority and certificates', async () => {
        serials.push(await serialsOf(environment()));
        // Trust both authorities, then present the new certificates, then trust the new authority alone.
        await giveCertificates(environment(), () => ({ 'ca.crt': both }));
        await environment().kube.apply(...privatePortCertificates(renewed.directory));
        await giveCertificates(environment(), (name) => ({
          ...signCertificate(renewed.directory, [name]),
          'ca.crt': both,
        }));
        await giveCertificates(environment(), () => ({ 'ca.crt': renewed.text }));
        const said = await eventually(
          () => renewalsOf(environment(), begun),
          (pods) =>
            pods.every(({ component, settings }) =>
              followed[component].every((each) => settings.includes(each)),
            ),
        );
        figure(
          '`certificates renewed` in the log',
          said.map(({ name, settings }) => `${name} ${settings.length}`).join(', '),
        );
        serials.push(await serialsOf(environment()));
      });
      const [first = [], last = []] = serials;
      expect(last.filter((serial) => first.includes(serial))).toEqual([]);
      expectNoFailure(report);
      expect(await restartsOf(environment())).toEqual(before);
      figure(
        'certificates presented before and after',
        `${new Set(first).size} and ${new Set(last).size}, none in common`,
      );
    });

    test('the account of design-catalog at Postgres', async () => {
      const { kube, stores } = environment();
      const before = await restartsOf(environment());
      const [username, password] = ['catalog_ro_second', 'second-password'];
      await stores.query(
        `create role ${username} login password '${password}' in role catalog_ro; ` +
          `alter role ${username} set default_transaction_read_only = on`,
      );
      const report = await underLoad(environment(), 'load: new account at Postgres', async () => {
        await kube.apply(secret(secretNames.role('catalog_ro'), { username, password }));
        await announce(environment());
        await eventually(
          () => accountsOf(environment()),
          (accounts) => accounts.every((account) => account === username),
        );
        // From here on nobody can connect as the account before; connections that stand stay.
        await stores.query('alter role catalog_ro nologin');
        const count = `select count(*) from pg_stat_activity where usename = '${username}'`;
        const used = await eventually(
          async () => {
            await askForConnections(environment());
            return Number(await stores.query(count));
          },
          (connections) => connections > 0,
        );
        figure('connections of the new account, the old one closed', String(used));
      });
      expectNoFailure(report);
      expect(await restartsOf(environment())).toEqual(before);
    });
  });
}

async function trustedBy({ kube }: Environment): Promise<string> {
  const { data } = await kube.get<{ data: Record<string, string> }>('secret', secretNames.tls('gateway'));
  return Buffer.from(data['ca.crt'] ?? '', 'base64').toString('utf8');
}

function newAuthority() {
  const directory = join(runDirectory, 'second-authority');
  mkdirSync(directory, { recursive: true });
  makeAuthority(directory);
  return { directory, text: readFileSync(join(directory, 'ca.crt'), 'utf8') };
}

/**
 * Changes keys of each component's Secret: `keysFor` is told the name that its certificate is for. Resolves when every pod
 * has taken them up.
 */
async function giveCertificates(
  environment: Environment,
  keysFor: (name: string) => Readonly<Record<string, string>>,
): Promise<void> {
  const { kube } = environment;
  const begun = new Date();
  for (const component of components) {
    const stringData = keysFor(`${release}-${component}.${kube.namespace}.svc.cluster.local`);
    await kube.kubectl(
      ...['patch', 'secret', secretNames.tls(component), `--patch=${JSON.stringify({ stringData })}`],
    );
  }
  await announce(environment);
  await eventually(
    () => renewalsOf(environment, begun),
    (pods) => pods.every(({ settings }) => settings.includes('RPC_TLS_DIRECTORY')),
  );
  // Connections that were made with the certificates before have ended by then.
  await sleep((connectionAgeSeconds + 2) * 1_000);
}

/** Has changed files brought into the pods: a kubelet looks after a pod at once when its object changes. */
async function announce({ kube }: Environment): Promise<void> {
  await kube.kubectl(
    'annotate',
    'pods',
    `--selector=app.kubernetes.io/instance=${release}`,
    '--overwrite',
    `course-exchange.test/delivered=${Date.now()}`,
  );
}

/** As which account each pod of design-catalog would connect to Postgres now. */
async function accountsOf({ kube }: Environment): Promise<readonly string[]> {
  const script = `console.log(require('node:fs').readFileSync('${secretsDirectory}/POSTGRES_USER', 'utf8'))`;
  const pods = await podsOf(kube, 'design-catalog');
  const said = await Promise.all(pods.map(({ name }) => runInside(kube, name, 'design-catalog', script)));
  return said.map((account) => account.trim());
}

/** By the setting that names its certificates, as the log line does. */
const followed: Readonly<Record<Component, readonly string[]>> = {
  gateway: ['RPC_TLS_DIRECTORY'],
  identity: ['RPC_TLS_DIRECTORY', 'OPERATOR_TLS_CERT'],
  'design-catalog': ['RPC_TLS_DIRECTORY', 'FEED_TLS_CERT'],
};

/** What each pod's log says since then. */
function renewalsOf({ kube }: Environment, since: Date) {
  const ofPod = async (component: Component, { name }: Pod) => {
    const lines = await kube.kubectl(
      'logs',
      name,
      `--container=${component}`,
      `--since-time=${since.toISOString()}`,
    );
    const renewals = lines.split('\n').filter((line) => line.includes('"message":"certificates renewed"'));
    return { name, component, settings: renewals.map((line) => /"setting":"(\w+)"/.exec(line)?.[1] ?? '') };
  };
  const all = components.map(async (component) =>
    Promise.all((await podsOf(kube, component)).map((pod) => ofPod(component, pod))),
  );
  return Promise.all(all).then((pods) => pods.flat());
}

const serialScript = `
  const { connect } = require('node:tls');
  const { readFileSync } = require('node:fs');
  const [host, port, servername, ...files] = process.argv.slice(1);
  const [ca, cert, key] = files.map((file) => readFileSync(file));
  const socket = connect({ host, port, servername, ca, cert, key, ALPNProtocols: ['h2'] }, () => {
    console.log(socket.getPeerCertificate().serialNumber);
    socket.destroy();
  });`;

/** Serial numbers that pods show: of the calls' ports to a gateway, of the others to the tool in the pod. */
async function serialsOf({ kube }: Environment): Promise<string[]> {
  const [gateway] = await podsOf(kube, 'gateway');
  const serials: string[] = [];
  for (const [component, port, privatePort, setting] of [
    ['identity', '7001', '7201', 'OPERATOR'],
    ['design-catalog', '7002', '7301', 'FEED'],
  ] as const) {
    const service = `${release}-${component}.${kube.namespace}.svc.cluster.local`;
    const ofCalls = ['ca.crt', 'tls.crt', 'tls.key'].map((file) => `/run/course-exchange/tls/${file}`);
    const own = ['CA', 'CERT', 'KEY'].map((part) => `${secretsDirectory}/${setting}_TLS_${part}`);
    for (const { name, address } of await podsOf(kube, component))
      serials.push(
        await runInside(
          kube,
          gateway?.name ?? '',
          'gateway',
          serialScript,
          address,
          port,
          service,
          ...ofCalls,
        ),
        await runInside(kube, name, component, serialScript, 'localhost', privatePort, 'localhost', ...own),
      );
  }
  return serials;
}

/** Holds up event lists for a moment: calls pile up, and the pools open new connections for them. */
async function askForConnections({ stores }: Environment): Promise<void> {
  await stores.query(
    'begin; lock table catalog.event_summaries in access exclusive mode; select pg_sleep(0.5); commit',
  );
}

async function restartsOf({ kube }: Environment): Promise<readonly string[]> {
  return (await allPods(kube)).map(({ name, restarts }) => `${name} ${restarts}`).sort();
}
