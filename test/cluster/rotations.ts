// Secrets that change while partners go on: the certificates between the pods, authority and all, and a database account.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { makeAuthority } from './certificates.ts';
import { componentCertificate, type Environment, release } from './environment.ts';
import { figure } from './figures.ts';
import { expectNoFailure, underLoad } from './load.ts';
import { components, podsOf, runInside } from './pods.ts';
import { runDirectory } from './settings.ts';
import { secret } from './store-manifests.ts';
import { connectionAgeSeconds, secretNames } from './values.ts';

export function rotations(environment: () => Environment): void {
  describe('Secrets are followed without a restart and without a failure', () => {
    test('certificates between the pods, to those of a new authority', async () => {
      const before = await restartsOf(environment());
      const [old, renewed] = authorities();
      const both = `${old.text}${renewed.text}`;
      const serials: string[][] = [];
      const report = await underLoad(environment(), 'load: new authority and certificates', async () => {
        serials.push(await serialsOf(environment()));
        // Believe both, then show the new one, then believe the new one alone.
        await giveCertificates(environment(), old.directory, both);
        await giveCertificates(environment(), renewed.directory, both);
        await giveCertificates(environment(), renewed.directory, renewed.text);
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
        await deliver(environment());
        // From here on nobody can connect as the account before; connections that stand stay.
        await stores.query('alter role catalog_ro nologin');
        await askForConnections(environment());
        const count = `select count(*) from pg_stat_activity where usename = '${username}'`;
        const used = Number(await stores.query(count));
        expect(used).toBeGreaterThan(0);
        figure('connections of the new account, the old one closed', String(used));
      });
      expectNoFailure(report);
      expect(await restartsOf(environment())).toEqual(before);
    });
  });
}

/** The authority of the run and a second one. */
function authorities() {
  const second = join(runDirectory, 'second-authority');
  mkdirSync(second, { recursive: true });
  makeAuthority(second);
  const text = (directory: string) => readFileSync(join(directory, 'ca.crt'), 'utf8');
  return [runDirectory, second].map((directory) => ({ directory, text: text(directory) })) as [
    { directory: string; text: string },
    { directory: string; text: string },
  ];
}

async function giveCertificates(environment: Environment, signer: string, trusted: string): Promise<void> {
  const { kube } = environment;
  await kube.apply(
    ...components.map((component) => componentCertificate(kube.namespace, component, signer, trusted)),
  );
  await deliver(environment);
  // Connections that were made with the certificates before have ended by then.
  await sleep((connectionAgeSeconds + 2) * 1_000);
}

/** Resolves when the pods have the changed files: a kubelet looks after a pod at once when its object changes. */
async function deliver({ kube }: Environment): Promise<void> {
  await kube.kubectl(
    'annotate',
    'pods',
    `--selector=app.kubernetes.io/instance=${release}`,
    '--overwrite',
    `course-exchange.test/delivered=${Date.now()}`,
  );
  await sleep(5_000);
}

const serialScript = `
  const { connect } = require('node:tls');
  const { readFileSync } = require('node:fs');
  const file = (name) => readFileSync(process.env.RPC_TLS_DIRECTORY + '/' + name);
  const [host, port, servername] = process.argv.slice(1);
  const socket = connect({ host, port, servername, ca: file('ca.crt'), cert: file('tls.crt'), key: file('tls.key'), ALPNProtocols: ['h2'] }, () => {
    console.log(socket.getPeerCertificate().serialNumber);
    socket.destroy();
  });`;

/** Serial numbers that identity's and design-catalog's pods show to a gateway. */
async function serialsOf({ kube }: Environment): Promise<string[]> {
  const [gateway] = await podsOf(kube, release, 'gateway');
  const serials: string[] = [];
  for (const [component, port] of [
    ['identity', '7001'],
    ['design-catalog', '7002'],
  ] as const) {
    const name = `${release}-${component}.${kube.namespace}.svc.cluster.local`;
    for (const { address } of await podsOf(kube, release, component)) {
      const said = await runInside(kube, gateway?.name ?? '', 'gateway', serialScript, address, port, name);
      serials.push(said.trim());
    }
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
  const pods = await Promise.all(components.map((component) => podsOf(kube, release, component)));
  return pods
    .flat()
    .map(({ name, restarts }) => `${name} ${restarts}`)
    .sort();
}
