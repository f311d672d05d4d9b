// What the chart renders for Traefik, at work: a Traefik of the suite's own on the node's network, which knows the
// CustomResourceDefinitions that the cluster's may lack, leads to the release.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { send, sendThrough } from '../support/http.ts';
import { type Environment, makeNamespace } from './environment.ts';
import { figure } from './figures.ts';
import { eventually, type Kube, type KubeObject } from './kube.ts';
import { podsOf, readyPods } from './pods.ts';
import { release, runName } from './settings.ts';
import { freeze } from './signals.ts';

/** Its module has the definitions, and the rules of an account that reads them. */
const version = 'v3.6.12';
const name = `traefik-${runName}`;
const ports = { web: 9_080, websecure: 9_443 };
const gateway = `${release}-gateway`;
export function traefik(environment: () => Environment, replicas: number): void {
  test('Traefik leads http to the gateway, leaves one that hangs, and asks another for one that is gone [R28.5]', async ({
    skip,
  }) => {
    const { kube, issuer } = environment();
    const [files, image] = [definitionFiles(), await imageOf(kube)];
    if (!files || image === '') return skip('no definitions, or another ingress controller');
    const tools = await makeNamespace('tools', 'privileged');
    const { objects, annotations } = await rendered(environment());
    // Those of somebody else stay as they are.
    const known = (await kube.tryKubectl(['get', 'crd', 'middlewares.traefik.io'])).code === 0;
    const definitions = known ? [] : files.definitions;
    const outside = [...definitions, ...accountOf(tools, files.rules), ingressClass];
    const http = issuer.replace('https:', 'http:');
    const plain = http.replace('://', '://plain.');
    try {
      await tools.apply(...outside);
      // Objects of a definition are refused until the API server has taken the definition up.
      await eventually(
        () => kube.apply(...objects).then(() => true),
        (applied) => applied,
      );
      await annotate(kube, annotations, ([key, value]) => `${key}=${value}`);
      await tools.apply(controller(image));
      await tools.kubectl('wait', `pod/${name}`, '--for=condition=Ready', '--timeout=120s');
      const address = await tools.kubectl('get', 'pod', name, '--output=jsonpath={.status.hostIP}');
      for (const origin of [http, plain]) sendThrough(origin, `http://${address}:${ports.web}`);
      sendThrough(issuer, `https://${address}:${ports.websecure}`);
      for (const origin of [issuer, plain]) await eventually(() => ask(origin), isAnswered);

      // Traefik redirects nothing: the gateway answers, by its own rules where it does not trust the node.
      const posted = await send(`${http}/token`, { form: { grant_type: 'refresh_token' } });
      expect(posted.text).toMatch(/^\{"error":"invalid_(request|client)"\}$/);
      await hanging(environment(), replicas);
      await gone(environment(), plain);
    } finally {
      for (const origin of [http, plain, issuer]) sendThrough(origin, origin);
      await annotate(kube, annotations, ([key]) => `${key}-`);
      for (const { kind, metadata } of [deadEndpoint(''), ...objects, ...outside])
        await kube.tryKubectl(['delete', kind, metadata.name, '--ignore-not-found', '--wait=false']);
      await tools.kubectl('delete', 'pod', name, '--ignore-not-found');
    }
    await settled(issuer);
  });
}

/** The ServersTransport ends what a pod does not answer; without it Traefik waits for as long as its client does. */
async function hanging({ kube, issuer }: Environment, replicas: number): Promise<void> {
  const [pod] = await readyPods({ kube }, 'gateway', replicas);
  if (!pod) throw new Error('The gateway has no pod.');
  const over = new AbortController();
  const asked: Promise<number>[] = [];
  const asking = (async () => {
    for (; !over.signal.aborted; await sleep(200)) asked.push(ask(issuer));
  })();
  await freeze(pod, 15);
  over.abort();
  await asking;
  const statuses = await Promise.all(asked);
  await readyPods({ kube }, 'gateway', replicas);
  const ended = statuses.filter((status) => status === 504).length;
  figure(
    'Traefik, one of two gateways frozen: asked, ended by the ServersTransport',
    `${asked.length}, ${ended}`,
  );
  expect(ended).toBeGreaterThan(0);
  expect(statuses.filter((status) => status !== 504 && !isAnswered(status))).toEqual([]);
}

/** An endpoint of the Service that refuses connections, as a dead pod's does: that of another pod, at a port that none has. */
async function gone({ kube, issuer }: Environment, plain: string): Promise<void> {
  const [pod] = await podsOf(kube, 'identity');
  await kube.apply(deadEndpoint(pod?.address ?? ''));
  // The Ingress that names no retry shows that Traefik knows of it.
  await eventually(
    () => ask(plain),
    (status) => status === 502,
  );
  const statuses: number[] = [];
  while (statuses.length < 30) statuses.push(await ask(issuer));
  expect(statuses.filter((status) => !isAnswered(status))).toEqual([]);
  figure(
    'Traefik, one endpoint of three dead: asked, answered by another',
    `${statuses.length}, ${statuses.length}`,
  );
}

/** The cluster's own controller knows that the dead endpoint went. */
async function settled(issuer: string): Promise<void> {
  let good = 0;
  await eventually(
    async () => {
      good = isAnswered(await ask(issuer)) ? good + 1 : 0;
      return good;
    },
    (count) => count >= 12,
  );
}

const ask = async (origin: string) => (await send(`${origin}/.well-known/openid-configuration`)).status;

/** By the gateway itself; 308 is for what came by http, as far as it knows: the node is no proxy that it trusts. */
const isAnswered = (status: number) => status === 200 || status === 308;

type Annotation = readonly [string, string];

async function annotate(kube: Kube, annotations: readonly Annotation[], word: (each: Annotation) => string) {
  await kube.kubectl('annotate', '--overwrite', 'service', gateway, ...annotations.map(word));
}

/** The chart's objects for Traefik and the annotations of the gateway's Service; a second Ingress names no Middleware. */
async function rendered({ kube, issuer, helmWords }: Environment) {
  const settings = [`className=${name}`, 'limits.controller=traefik', 'limits.timeoutSeconds=4'];
  // The chart refuses a controller that would end a login. The gateway that runs has its own limit.
  const words = ['--set=gateway.loginTimeoutMs=3000', ...settings.map((each) => `--set=ingress.${each}`)];
  const said = await kube.helm('template', ...helmWords, ...words);
  const all = parse(said);
  const of = (kind: string) => all.filter((object) => object.kind === kind);
  const [ingress] = of('Ingress');
  const service = of('Service').find(({ metadata }) => metadata.name === gateway);
  if (!ingress) throw new Error('The chart renders no Ingress.');
  const elsewhere = JSON.stringify(ingress.spec).replaceAll(
    new URL(issuer).host,
    `plain.${new URL(issuer).host}`,
  );
  const second = { ...ingress, metadata: { name: `${name}-plain` }, spec: JSON.parse(elsewhere) };
  const own = { ...ingress, metadata: { ...ingress.metadata, name } };
  return {
    objects: [own, second, ...of('Middleware'), ...of('ServersTransport')],
    annotations: Object.entries(service?.metadata.annotations ?? {}),
  };
}

type Rendered = KubeObject & {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
};

const parse = (text: string) => parseAllDocuments(text).flatMap((each) => (each.toJS() ?? []) as Rendered);

/** Undefined, and said, where Go or its proxy gives none. */
function definitionFiles() {
  try {
    const module = `github.com/traefik/traefik/v3@${version}`;
    const words = ['mod', 'download', '-json', module];
    const { Dir } = JSON.parse(execFileSync('go', words, { encoding: 'utf8', stdio: 'pipe' })) as {
      Dir: string;
    };
    const read = (file: string) =>
      parse(readFileSync(join(Dir, 'docs/content/reference/dynamic-configuration', file), 'utf8'));
    const [role] = read('kubernetes-crd-rbac.yml');
    return { definitions: read('kubernetes-crd-definition-v1.yml'), rules: role?.rules };
  } catch {
    console.log('NOT RUN what Traefik does: no Go, or no proxy, gives its CustomResourceDefinitions');
    return undefined;
  }
}

/** Of a Traefik that is the cluster's ingress controller; empty where there is none. */
function imageOf(kube: Kube): Promise<string> {
  const found = '{.items[*].spec.containers[?(@.name=="traefik")].image}';
  const labels = '--selector=app.kubernetes.io/name=traefik';
  return kube
    .kubectl('get', 'pods', '--all-namespaces', labels, `--output=jsonpath=${found}`)
    .then((images) => images.split(' ')[0] ?? '');
}

const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name } };
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } };
const ingressClass: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name },
  spec: { controller: 'traefik.io/ingress-controller' },
};

const accountOf = ({ namespace }: Kube, rules: unknown): readonly KubeObject[] => [
  account,
  { ...rbac, kind: 'ClusterRole', rules },
  {
    ...rbac,
    kind: 'ClusterRoleBinding',
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  },
];

const controller = (image: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    serviceAccountName: name,
    hostNetwork: true,
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'own',
        image,
        imagePullPolicy: 'IfNotPresent',
        command: ['traefik'],
        args: [
          ...Object.entries(ports).map(([entry, port]) => `--entrypoints.${entry}.address=:${port}`),
          '--entrypoints.websecure.http.tls=true',
          '--providers.kubernetescrd=true',
          '--providers.kubernetesingress=true',
          `--providers.kubernetesingress.ingressclass=${name}`,
          '--global.checknewversion=false',
          '--global.sendanonymoususage=false',
        ],
        readinessProbe: { tcpSocket: { port: ports.websecure }, periodSeconds: 1, timeoutSeconds: 5 },
      },
    ],
  },
});

const deadEndpoint = (address: string): KubeObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name, labels: { 'kubernetes.io/service-name': gateway } },
  addressType: 'IPv4',
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
  ports: [{ name: 'http', protocol: 'TCP', port: 9 }],
});
