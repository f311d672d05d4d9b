// docs/install.md as written: from an empty namespace to events read through the ingress, an upgrade and a rollback under
// load, and what is left after the end.
import { appendFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { roles } from '@course-exchange/local-stack/run-directory';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { walkThrough } from '../containers/login-walkthrough.ts';
import { connectInBrowser } from './browser.ts';
import { demoPartner, makeNamespace } from './environment.ts';
import { timed } from './figures.ts';
import { blocksOf, checkout, runBlocks, trustIngress } from './guide.ts';
import { findIngress, findIngressNamespace, findProxies, leadTo } from './ingress.ts';
import { eventually, type Kube, type KubeObject, kubeIn } from './kube.ts';
import { expectNoFailure, underLoad } from './load.ts';
import { imagePrefix, imageTag, imageTagBefore, namespaceOf, runLabel, runName } from './settings.ts';
import { database, secret } from './store-manifests.ts';
import { type Stores, startStores } from './stores.ts';

const host = 'guide.exchange.test';
const partnerHost = 'partner.guide.exchange.test';
const issuer = `https://${host}`;
const partnerUrl = `https://${partnerHost}`;
const installed = kubeIn(namespaceOf('guide'));

let beside: Kube;
let stores: Stores;
let variables: Record<string, string>;
/** Where the blocks run: it shows the checkout's folders and takes the files that they write. */
let work: string;

beforeAll(async () => {
  beside = await makeNamespace('guide-stores', 'restricted');
  stores = await startStores(beside);
  const ingressAddress = await findIngress(beside);
  leadTo(ingressAddress, issuer, partnerUrl);
  work = mkdtempSync('/tmp/course-exchange-guide-');
  for (const folder of ['deploy', 'helm']) symlinkSync(join(checkout, folder), join(work, folder));
  variables = {
    NAMESPACE: installed.namespace,
    HOST: host,
    PARTNER_HOST: partnerHost,
    IMAGES: imagePrefix,
    TAG: imageTagBefore,
    POSTGRES_HOST: `postgres.${beside.namespace}.svc.cluster.local`,
    REDIS_HOST: `redis.${beside.namespace}.svc.cluster.local`,
    PSQL: stores.psql,
    REDIS_PASSWORD: stores.redisPassword,
    INGRESS_NAMESPACE: await findIngressNamespace(beside),
    INGRESS_ADDRESS: ingressAddress,
    INGRESS_NETWORKS: (await findProxies(beside)).join(', '),
  };
}, 240_000);

afterAll(() => rmSync(work, { recursive: true, force: true }));

const run = (blocks: readonly string[], changed: Readonly<Record<string, string>> = {}) =>
  runBlocks(blocks, { ...variables, ...changed }, work);

test('an empty namespace becomes an environment', async () => {
  const [preparing = '', ...others] = blocksOf('A test environment');
  await timed('guide: prepare.sh', () => run([preparing]));
  await installed.kubectl('label', 'namespace', installed.namespace, `${runLabel}=${runName}`);
  await trustIngress(installed);
  await timed('guide: values, helm install, helm test', () => run(others));
  const said = await run(blocksOf('First look'));
  expect(said).toContain(`"issuer":"${issuer}"`);
  expect(said).toContain('paddock-planner');
  expect(said).toContain('"phase":"running"');
}, 900_000);

test('preparing it again keeps every Secret, and makes anew what was deleted', async () => {
  const versions = 'jsonpath={range .items[*]}{.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}';
  const secrets = async () =>
    (await installed.kubectl('get', 'secrets', `--output=${versions}`)).trim().split('\n');
  const before = await secrets();
  await run(['deploy/kubernetes/prepare.sh']);
  expect(await secrets()).toEqual(before);
  await installed.kubectl('delete', 'secret', 'course-exchange-catalog-feed');
  const missing = await run(['deploy/kubernetes/prepare.sh --dry-run']);
  expect(missing.match(/^kind: .*|^ {2}name: .*/gm)).toEqual([
    'kind: Secret',
    '  name: course-exchange-catalog-feed',
  ]);
  expect(await secrets()).toHaveLength(before.length - 1);
  expect(await run(['deploy/kubernetes/prepare.sh'])).toContain(
    'secret/course-exchange-catalog-feed created',
  );
  const kept = (await secrets()).filter((name) => !name.startsWith('course-exchange-catalog-feed'));
  expect(before).toEqual(expect.arrayContaining(kept));
}, 240_000);

test('preparing it again makes no second authority beside certificates of the first', async () => {
  const [authority, signed] = ['course-exchange-services', 'course-exchange-gateway-tls'];
  const { data } = await installed.get<{ data: Record<string, string> }>('secret', authority);
  await installed.kubectl('delete', 'secret', authority, signed);
  await expect(run(['deploy/kubernetes/prepare.sh'])).rejects.toThrow(`secret/${authority} is missing`);
  await installed.apply({ ...secret(authority, {}), data } as KubeObject);
  expect(await run(['deploy/kubernetes/prepare.sh'])).toContain(`secret/${signed} created`);
}, 240_000);

test('what comes by http the gateway alone answers [R28.5]', async () => {
  const said = await run(blocksOf('Requests by http'));
  expect(said.match(/^(HTTP|location:|\{).*/gim)?.map((line) => line.trim())).toEqual([
    'HTTP/1.1 400 Bad Request',
    '{"error":"invalid_request"}',
    'HTTP/1.1 308 Permanent Redirect',
    expect.stringMatching(new RegExp(`^location: ${issuer}/`, 'i')),
  ]);
});

test('a partner gets tokens and reads events', () => walkThrough(issuer));

test('a person connects the demo partner in a browser and sees the events', () =>
  connectInBrowser({ kube: installed, issuer, partnerUrl }));

test('an upgrade and a rollback are not noticed by partners', async () => {
  // Both versions may be of one tag: then this is what makes the pods of the second differ.
  appendFileSync(join(work, 'hosts.yaml'), 'defaults: { podAnnotations: { version: second } }\n');
  const [upgrade = '', rollback = ''] = blocksOf('Upgrade');
  for (const [what, block] of Object.entries({ upgrade, rollback })) {
    const report = await underLoad(
      { kube: installed, issuer, partner: demoPartner },
      `guide: load at the ${what}`,
      async () => {
        await timed(`guide: ${what}`, () => run([block], { TAG: imageTag }));
      },
    );
    expectNoFailure(report);
  }
}, 900_000);

test('what is removed leaves what is the operator’s alone', async () => {
  await run(blocksOf('Remove'));
  const kinds = 'deployments,jobs,services,ingresses,networkpolicies,poddisruptionbudgets,configmaps';
  const left = await installed.kubectl('get', kinds, '--output=name');
  expect(left.split('\n').filter((name) => name !== '')).toEqual(['configmap/kube-root-ca.crt']);
  const secrets = await installed.kubectl('get', 'secrets', '--output=name');
  expect(secrets).toContain('secret/course-exchange-keys');
  expect(secrets).not.toContain('sh.helm.release');
}, 240_000);

test('the roles get the passwords that another tool brought', async () => {
  const passwords = Object.fromEntries(roles.map((role) => [role, `of ${role}, isn't it`]));
  await beside.apply(secret('course-exchange', passwords));
  await stores.query("alter system set log_statement = 'all'");
  await stores.query('select pg_reload_conf()');
  await eventually(
    () => stores.query('show log_statement'),
    (said) => said.trim() === 'all',
  );
  await run(['deploy/kubernetes/prepare.sh roles'], { NAMESPACE: beside.namespace });
  const logged = await eventually(
    () => beside.kubectl('logs', 'deployment/postgres'),
    (log) => roles.every((role) => log.includes(`alter role ${role} password 'SCRAM-SHA-256$`)),
  );
  for (const role of roles) expect(logged).not.toContain(`of ${role}, isn`);
  const { items } = await beside.get<{ items: { status: { podIP: string } }[] }>(
    'pods',
    '--selector=app=postgres',
  );
  const login = `host=${items[0]?.status.podIP} dbname=${database} user=catalog_ro`;
  const connect = (password: string) =>
    beside.tryKubectl([
      ...['exec', 'deployment/postgres', '--', 'env', `PGPASSWORD=${password}`],
      ...['psql', login, '--command=select 1'],
    ]);
  expect(await connect(passwords.catalog_ro ?? '')).toMatchObject({ code: 0 });
  expect((await connect('another')).errors).toContain('password authentication failed');
}, 240_000);
