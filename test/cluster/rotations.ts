// Secrets that change while partners go on, as docs/install.md tells it: certificates, and a database account.
import { expect } from 'vitest';
import { listEvents } from './changes.ts';
import { eventually } from './kube.ts';
import { type Component, components, logOf, podNames, podsOf, runInside } from './pods.ts';
import { type Production, privatePortCertificates, secretsDirectory } from './production.ts';
import { secret } from './programs.ts';
import { release } from './settings.ts';

/** By the setting that names its certificates, as the log line does. */
const followed: Readonly<Record<Component, readonly string[]>> = {
  gateway: ['RPC_TLS_DIRECTORY'],
  identity: ['RPC_TLS_DIRECTORY', 'OPERATOR_TLS_CERT'],
  'design-catalog': ['RPC_TLS_DIRECTORY', 'FEED_TLS_CERT'],
};

/** Of all ports: each pod says that it took them up, and none restarts. */
export async function renewCertificates({ kube, prepare }: Production): Promise<void> {
  const [before, begun] = [await podNames(kube), new Date()];
  await kube.kubectl('delete', 'secret', ...components.map((name) => `course-exchange-${name}-tls`));
  await kube.apply(...privatePortCertificates());
  const made = (await prepare()).match(/^secret\/.* created$/gm);
  expect(made).toHaveLength(components.length);
  await announce({ kube });
  for (const component of components)
    for (const pod of await podsOf(kube, component))
      await eventually(
        async () => (await logOf(kube, component, pod, begun)).filter((line) => line.includes(renewed)),
        (lines) => followed[component].every((name) => lines.some((line) => line.includes(`"${name}"`))),
      );
  expect(await podNames(kube)).toEqual(before);
}

const renewed = '"message":"certificates renewed"';

/** Of design-catalog at Postgres: new connections are made by the new one, and none restarts. */
export async function changeAccount({ kube, stores, stack }: Production): Promise<void> {
  const before = await podNames(kube);
  const [username, password] = [`catalog_ro_${Date.now()}`, 'second-password'];
  await stores.query(
    `create role ${username} login password '${password}' in role catalog_ro; ` +
      `alter role ${username} set default_transaction_read_only = on`,
  );
  await kube.apply(secret('course-exchange-catalog-ro', { username, password }));
  await announce({ kube });
  const script = `console.log(require('node:fs').readFileSync('${secretsDirectory}/POSTGRES_USER', 'utf8'))`;
  for (const { name } of await podsOf(kube, 'design-catalog'))
    await eventually(
      () => runInside(kube, name, 'design-catalog', script),
      (account) => account.trim() === username,
    );
  // From here on nobody can connect as the account before; connections that stand stay.
  await stores.query('alter role catalog_ro nologin');
  const count = `select count(*) from pg_stat_activity where usename = '${username}'`;
  // While lists are held up for a moment calls pile up, and the pools open new connections for them.
  const holdUp =
    'begin; lock table catalog.event_summaries in access exclusive mode; select pg_sleep(0.5); commit';
  await eventually(
    async () => {
      await Promise.all([stores.query(holdUp), listEvents(stack, 40)]);
      return Number(await stores.query(count));
    },
    (connections) => connections > 0,
  );
  expect(await podNames(kube)).toEqual(before);
}

/** Has changed files brought into the pods: a kubelet looks after a pod at once when its object changes. */
async function announce({ kube }: Pick<Production, 'kube'>): Promise<void> {
  const pods = ['pods', `--selector=app.kubernetes.io/instance=${release}`];
  const mark = `course-exchange.test/delivered=${Date.now()}`;
  // A pod that the fault before has deleted may go in this moment.
  await eventually(
    () => kube.kubectl('annotate', ...pods, '--overwrite', mark),
    () => true,
  );
}
