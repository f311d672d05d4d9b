// docs/install.md as written, in a test environment: from an empty namespace to events in the demo partner, and what is left
// after the end.
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { roles } from '@course-exchange/local-stack/run-directory';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { generateKey } from 'openpgp';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { chart, filesOf, valueSets } from '../chart/render.ts';
import { root } from '../check/step.ts';
import { read, section, shellBlocks } from '../docs/documents.ts';
import { logInAndAgree } from '../support/flow.ts';
import { openUserAgent } from '../support/user-agent.ts';
import {
  blocksOf,
  enterNamespace,
  findIngress,
  inPods,
  leadTo,
  registration,
  runBlocks,
  trustIngress,
  untilLed,
} from './guide.ts';
import {
  imagePrefix,
  imageTag,
  type Kube,
  kubeIn,
  makeNamespace,
  namespaceOf,
  runLabel,
  runName,
  waiting,
} from './kube.ts';
import { podsWith, secret } from './pods.ts';
import { database, type Stores, startStores } from './stores.ts';

const host = 'guide.exchange.test';
const issuer = `https://${host}`;
const partnerUrl = `https://partner.${host}`;
const installed = kubeIn(namespaceOf('guide'));

let beside: Kube;
let stores: Stores;
let variables: Record<string, string>;
/** The blocks run in this folder: it shows the checkout's folders and takes the files that they write. */
let work: string;
let owned: readonly string[];

beforeAll(async () => {
  beside = await makeNamespace('guide-stores', 'restricted');
  stores = await startStores(beside, false);
  const ingress = await findIngress(beside);
  leadTo(ingress.address, issuer, partnerUrl);
  work = mkdtempSync(join(tmpdir(), 'course-exchange-guide-'));
  for (const folder of ['deploy', 'helm']) symlinkSync(join(root, folder), join(work, folder));
  variables = {
    NAMESPACE: installed.namespace,
    HOST: host,
    PARTNER_HOST: `partner.${host}`,
    IMAGES: imagePrefix,
    TAG: imageTag,
    POSTGRES_HOST: `postgres.${beside.namespace}.svc.cluster.local`,
    REDIS_HOST: `redis.${beside.namespace}.svc.cluster.local`,
    PSQL: stores.psql,
    REDIS_PASSWORD: stores.redisPassword,
    INGRESS_NAMESPACE: ingress.namespace,
    INGRESS_ADDRESS: ingress.address,
    INGRESS_NETWORKS: ingress.networks.join(', '),
  };
}, 240_000);

afterAll(() => rmSync(work, { recursive: true, force: true }));

const run = (blocks: readonly string[], changed: Readonly<Record<string, string>> = {}) =>
  runBlocks(blocks, { ...variables, ...changed }, work);
const prepare = (...words: readonly string[]) => run([`deploy/kubernetes/prepare.sh ${words.join(' ')}`]);

test('an empty namespace becomes an environment, in which the contract holds', async () => {
  const [preparing = '', ...others] = blocksOf('## A test environment');
  await run([preparing]);
  await installed.kubectl('label', 'namespace', installed.namespace, `${runLabel}=${runName}`);
  await trustIngress(installed);
  owned = await objectsOf(installed);
  const said = await run(others);
  expect(said).toContain(`"issuer":"${issuer}"`);
  expect(said).toContain('paddock-planner');
  expect(said).toContain('"phase":"running"');
}, 900_000);

test('the gateway alone answers requests by http [R28.5]', async () => {
  const said = await run(blocksOf('### Requests by http'));
  expect(said.match(/^(HTTP|location:|\{).*/gim)?.map((line) => line.trim())).toEqual([
    'HTTP/1.1 400 Bad Request',
    '{"error":"invalid_request"}',
    'HTTP/1.1 308 Permanent Redirect',
    expect.stringMatching(new RegExp(`^location: ${issuer}/`, 'i')),
  ]);
});

test('the demo partner reaches the issuer through the ingress: a person connects it and sees the events', async () => {
  await untilLed(issuer);
  const [atPartner, atIssuer] = [openUserAgent(partnerUrl), openUserAgent(issuer)];
  const left = await atPartner.visit(`${partnerUrl}/connect`);
  if (left.kind !== 'departure') throw new Error(`The partner stays: ${left.text}`);
  const { location } = await logInAndAgree(atIssuer, await atIssuer.visit(left.location), demoUsers.typical);
  const page = await atPartner.visit(location);
  expect(page.kind === 'page' && page.text).toContain('Your events');
});

test('the commands of docs/operate.md and docs/recovery.md in pods do what the pages say', async () => {
  const recovery = shellBlocks(read('docs/recovery.md'), 'text');
  const byKubectl = recovery.filter((block) => /^kubectl .* (scale|logs) /.test(block));
  expect(byKubectl).toHaveLength(3);
  const [stop = '', resume = '', saveLog = ''] = byKubectl;
  const fileOf = (heading: string) =>
    shellBlocks(section('docs/operate.md', heading))[0]?.split('partnerctl')[0] ?? '';
  writeFileSync(join(work, 'acme.yaml'), registration);
  const { publicKey } = await generateKey({ userIDs: [{ name: 'Acme' }] });
  writeFileSync(join(work, 'acme.asc'), publicKey);
  const files = ['## Import users', '## Import designs'].map(fileOf);
  const AGE_KEY = await identityToRecipient(await generateIdentity());
  const changed = { AGE_KEY, WORK: work, USER: 'ann', OWNER: demoUsers.typical.sub };
  await run([enterNamespace, ...files, inPods], changed);
  for (const file of ['acme.age', 'acme-2.asc'])
    expect(readFileSync(join(work, file), 'utf8')).toContain('BEGIN');
  const fence = 'operate restore fence --restored postgres --audit-log - --dry-run < identity.log';
  const [tool = ''] = inPods.split('\n\n');
  const planned = await run([enterNamespace, tool, stop, saveLog, fence, resume], changed);
  expect(planned).toContain('it lacks none of the lines');
}, 240_000);

test('preparing it again keeps every Secret, and recreates what was deleted', async () => {
  const versions = 'jsonpath={range .items[*]}{.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}';
  const secrets = async () =>
    (await installed.kubectl('get', 'secrets', `--output=${versions}`)).trim().split('\n');
  const before = await secrets();
  await prepare();
  expect(await secrets()).toEqual(before);
  await installed.kubectl('delete', 'secret', 'course-exchange-catalog-feed');
  const missing = await prepare('--dry-run');
  expect(missing.match(/^kind: .*|^ {2}name: .*/gm)).toEqual([
    'kind: Secret',
    '  name: course-exchange-catalog-feed',
  ]);
  expect(await secrets()).toHaveLength(before.length - 1);
  expect(await prepare()).toContain('secret/course-exchange-catalog-feed created');
  const kept = (await secrets()).filter((name) => !name.startsWith('course-exchange-catalog-feed'));
  expect(before).toEqual(expect.arrayContaining(kept));
}, 240_000);

test('preparing it again makes no second authority beside certificates of the first', async () => {
  const [authority, signed] = ['course-exchange-services', 'course-exchange-gateway-tls'];
  const kept = await installed.kubectl('get', 'secret', authority, '--output=jsonpath={.data}');
  await installed.kubectl('delete', 'secret', authority, signed);
  await expect(prepare()).rejects.toThrow(`secret/${authority} is missing`);
  await installed.apply({ ...secret(authority, {}), data: JSON.parse(kept) });
  expect(await prepare()).toContain(`secret/${signed} created`);
}, 240_000);

test('removing it leaves alone what is the operator’s', async () => {
  await run(blocksOf('## Remove'));
  await expect.poll(() => objectsOf(installed), { timeout: 60_000 }).toEqual(owned);
}, 240_000);

test('the roles get the passwords that another tool brought, and no log shows them', async () => {
  const passwords = Object.fromEntries(roles.map((role) => [role, `of ${role}, isn't it`]));
  await beside.apply(secret('course-exchange', passwords));
  await stores.query("alter system set log_statement = 'all'");
  await stores.query('select pg_reload_conf()');
  await vi.waitFor(async () => expect(await stores.query('show log_statement')).toBe('all\n'), waiting);
  await run(['deploy/kubernetes/prepare.sh roles'], { NAMESPACE: beside.namespace });
  const logged = await vi.waitFor(async () => {
    const log = await beside.kubectl('logs', 'postgres');
    for (const role of roles) expect(log).toContain(`alter role ${role} password 'SCRAM-SHA-256$`);
    return log;
  }, waiting);
  for (const role of roles) expect(logged).not.toContain(`of ${role}, isn`);
  const [pod] = await podsWith(beside, 'app=postgres');
  const login = `host=${pod?.address} dbname=${database} user=catalog_ro`;
  const connect = (password: string) =>
    beside.tryKubectl([
      ...['exec', 'postgres', '--', 'env', `PGPASSWORD=${password}`],
      ...['psql', login, '--command=select 1'],
    ]);
  expect(await connect(passwords.catalog_ro ?? '')).toMatchObject({ exit: 0 });
  expect((await connect('another')).err).toContain('password authentication failed');
}, 240_000);

test.each(valueSets)('the API server accepts what the values %s render', async (name) => {
  const values = filesOf(name).map((file) => `--values=${join(chart, file)}`);
  const rendered = await beside.helm('template', 'validated', chart, ...values);
  const known = rendered
    .split(/^---$/m)
    .filter((object) => !isDefined.test(object) && /^kind:/m.test(object));
  expect(known.length).toBeGreaterThan(3);
  const tried = ['apply', '--dry-run=server', '--server-side', '--force-conflicts', '--filename=-'];
  const { exit, err } = await beside.tryKubectl(tried, known.join('\n---\n'));
  expect({ exit, err: err.replace(/^Warning: .*$/gm, '').trim() }).toEqual({ exit: 0, err: '' });
});

/** A cluster knows its kind only by a CustomResourceDefinition. */
const isDefined =
  /^apiVersion: (cert-manager\.io|monitoring\.coreos\.com|gateway\.networking\.k8s\.io|external-secrets\.io|traefik\.io)\//m;

/** What a chart can make and an operator has made, by kind and name. */
async function objectsOf(kube: Kube): Promise<readonly string[]> {
  const kinds =
    'deployments,jobs,cronjobs,services,ingresses,networkpolicies,poddisruptionbudgets,horizontalpodautoscalers,' +
    'configmaps,secrets,serviceaccounts,roles,rolebindings';
  return (await kube.kubectl('get', kinds, '--output=name')).trim().split('\n').sort();
}
