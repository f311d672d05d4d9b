// docs/install.md as written: from an empty namespace to events read through the ingress, an upgrade and a rollback under
// load, and what is left after the end.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { walkThrough } from '../containers/walk.ts';
import { makeNamespace } from './environment.ts';
import { timed } from './figures.ts';
import { findIngress, findIngressNamespace, leadTo } from './ingress.ts';
import { blocksOf, runBlocks } from './install-guide.ts';
import { kubeIn } from './kube.ts';
import { expectNoFailure, underLoad } from './load.ts';
import { imagePrefix, imageTag, imageTagBefore, kubectlProgram, runLabel, runName } from './settings.ts';
import { database } from './store-manifests.ts';
import { type Stores, startStores } from './stores.ts';

const host = 'guide.exchange.test';
const partnerHost = 'partner.guide.exchange.test';
const issuer = `https://${host}`;
const installed = kubeIn(`course-exchange-test-${runName}-guide`);

let stores: Stores;
let variables: Record<string, string>;
let work: string;

beforeAll(async () => {
  const beside = await makeNamespace('guide-stores', 'restricted');
  stores = await startStores(beside);
  const ingressAddress = await findIngress(beside);
  leadTo(ingressAddress, issuer, `https://${partnerHost}`);
  work = mkdtempSync('/tmp/course-exchange-guide-');
  const superuser = ['psql', '--quiet', '--username=postgres', `--dbname=${database}`];
  variables = {
    NAMESPACE: installed.namespace,
    WORK: work,
    HOST: host,
    PARTNER_HOST: partnerHost,
    IMAGES: imagePrefix,
    TAG: imageTagBefore,
    POSTGRES_HOST: `postgres.${beside.namespace}.svc.cluster.local`,
    REDIS_HOST: `redis.${beside.namespace}.svc.cluster.local`,
    PSQL: `${kubectlProgram} --namespace ${beside.namespace} exec -i deployment/postgres -- ${superuser.join(' ')} --host=/var/run/postgresql`,
    REDIS_PASSWORD: stores.redisPassword,
    INGRESS_NAMESPACE: await findIngressNamespace(beside),
    INGRESS_ADDRESS: ingressAddress,
  };
}, 240_000);

afterAll(() => rmSync(work, { recursive: true, force: true }));

test('an empty namespace becomes an environment', async () => {
  await runBlocks(blocksOf('Namespace'), variables);
  await installed.kubectl('label', 'namespace', installed.namespace, `${runLabel}=${runName}`);
  const preparing = ['Keys and passwords', 'Database', 'Certificates', 'Secrets', 'Values'].flatMap(blocksOf);
  await timed('guide: keys, database, certificates, Secrets, values', () => runBlocks(preparing, variables));
  const authority = readFileSync(join(work, 'public-authority/ca.crt'), 'utf8');
  setDefaultCACertificates([...getCACertificates('default'), authority]);
  await timed('guide: helm install', () => runBlocks(blocksOf('Install'), variables));
  const said = await runBlocks(blocksOf('First look'), variables);
  expect(said).toContain(`"issuer":"${issuer}"`);
  expect(said).toContain('paddock-planner');
}, 600_000);

test('a partner gets tokens and reads events', () => walkThrough(issuer));

test('an upgrade and a rollback are not noticed by partners', async () => {
  // Both versions may be of one tag: then this is what makes the pods of the second differ.
  writeFileSync(join(work, 'hosts.yaml'), 'defaults: { podAnnotations: { version: second } }\n', {
    flag: 'a',
  });
  const [upgrade = '', rollback = ''] = blocksOf('Upgrade');
  for (const [what, block] of Object.entries({ upgrade, rollback })) {
    const report = await underLoad({ issuer }, `guide: load at the ${what}`, async () => {
      await timed(`guide: ${what}`, () => runBlocks([block], { ...variables, TAG: imageTag }));
    });
    expectNoFailure(report);
  }
}, 900_000);

test('what is removed leaves what is the operator’s alone', async () => {
  await runBlocks(blocksOf('Remove'), variables);
  const kinds = 'deployments,jobs,services,ingresses,networkpolicies,poddisruptionbudgets,configmaps';
  const left = await installed.kubectl('get', kinds, '--output=name');
  expect(left.split('\n').filter((name) => name !== '')).toEqual(['configmap/kube-root-ca.crt']);
  const secrets = await installed.kubectl('get', 'secrets', '--output=name');
  expect(secrets).toContain('secret/course-exchange-keys');
  expect(secrets).not.toContain('sh.helm.release');
}, 240_000);
