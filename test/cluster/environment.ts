// One environment in a namespace of its own: stores, what prepare.sh makes, and the chart's release.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allDemoUsers, demoPartners } from '@course-exchange/local-stack/demo-accounts';
import type { DemoUser, Partner } from '../support/stack-file.ts';
import { signCertificate } from './certificates.ts';
import { prepare } from './guide.ts';
import { findIngress, findProxies, leadTo } from './ingress.ts';
import { eventually, type Kube, type KubeObject, kubeIn } from './kube.ts';
import {
  chartBefore,
  helmProgram,
  imageTagBefore,
  namespaceOf,
  release,
  runDirectory,
  runLabel,
  runName,
} from './settings.ts';
import { secret } from './store-manifests.ts';
import { type Stores, startStores } from './stores.ts';
import { type Kind, secretNames, valuesFor } from './values.ts';

export const chart = fileURLToPath(new URL('../../helm/course-exchange', import.meta.url));

export interface Environment {
  readonly kube: Kube;
  readonly stores: Stores;
  /** Makes what is missing of Secrets and roles. */
  readonly prepare: () => Promise<string>;
  readonly issuer: string;
  readonly partnerUrl: string;
  /** Who calls: a demo partner, or the one that `populate` registers. */
  readonly partner: Partner;
  /** Words for `helm install` and `helm upgrade`: release, chart, values. */
  readonly helmWords: readonly string[];
  /** The same for the version before, where there is one. */
  readonly helmWordsBefore: readonly string[];
}

/** A demo partner whose redirects go nowhere. */
export const demoPartner = demoPartners('https://unused.test')[1] as Partner;

/** A namespace of this run that takes pods; Pod Security "restricted" is enforced, or "privileged" for tools. */
export async function makeNamespace(name: string, level: 'restricted' | 'privileged'): Promise<Kube> {
  const kube = kubeIn(namespaceOf(name));
  const labels = { [runLabel]: runName, 'pod-security.kubernetes.io/enforce': level };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: kube.namespace, labels } };
  await kube.apply(namespace as KubeObject);
  // A pod is refused before the cluster has made the account that it has by default.
  await eventually(
    () => kube.tryKubectl(['get', 'serviceaccount', 'default']),
    ({ code }) => code === 0,
  );
  return kube;
}

// Production refuses an issuer that is an example's, such as one below .test; no DNS is asked for either.
const hosts: Readonly<Record<Kind, string>> = {
  production: 'exchange.courses-of-the-north.net',
  test: 'exchange.test',
};

/** Everything that `helm install` finds there: stores and Secrets. Production's stores speak TLS alone. */
export async function prepareEnvironment(kind: Kind, replicas: number): Promise<Environment> {
  const kube = await makeNamespace(kind, 'restricted');
  const host = hosts[kind];
  const [issuer, partnerUrl] = [`https://${host}`, `https://partner.${host}`];
  const [stores, ingressAddress, trustedProxies] = await Promise.all([
    startStores(kube, kind === 'production'),
    findIngress(kube),
    findProxies(kube),
  ]);
  leadTo(ingressAddress, issuer, partnerUrl);
  const names = { HOST: host, ...(kind === 'test' ? { PARTNER_HOST: `partner.${host}` } : {}) };
  const again = () => prepare(kube, stores, names);
  await again();
  await kube.apply(
    ...(kind === 'production'
      ? [...storeAuthorities(), ...privatePortCertificates(runDirectory)]
      : [contractSecret({ issuer, partners: demoPartners(partnerUrl), users: allDemoUsers })]),
  );
  const choices = { kind, issuer, partnerUrl, replicas, ingressAddress, trustedProxies };
  const values = join(runDirectory, `values-${kind}.json`);
  writeFileSync(values, JSON.stringify(valuesFor(choices), null, 2));
  const [helmWords, helmWordsBefore] = [wordsFor(chart, kind, values), wordsBefore(kind, values)];
  return {
    kube,
    stores,
    prepare: again,
    issuer,
    partnerUrl,
    partner: demoPartner,
    helmWords,
    helmWordsBefore,
  };
}

function wordsFor(folder: string, kind: Kind, values: string): readonly string[] {
  return [release, folder, '--values', join(folder, `values-${kind}.yaml`), '--values', values];
}

/** With this version's chart where the one before does not know these values. */
function wordsBefore(kind: Kind, values: string): readonly string[] {
  const tag = ['--set-string', `image.tag=${imageTagBefore}`];
  const words = [...wordsFor(chartBefore, kind, values), ...tag];
  const known = chartBefore !== '' && spawnSync(helmProgram, ['template', ...words]).status === 0;
  return known ? words : [...wordsFor(chart, kind, values), ...tag];
}

/** Whom `helm test` works with. */
export function contractSecret(stack: {
  readonly issuer: string;
  readonly partners: readonly Pick<Partner, 'clientId'>[];
  readonly users: readonly DemoUser[];
}): KubeObject {
  return secret(secretNames.stack, { 'stack.json': JSON.stringify(stack) });
}

function storeAuthorities(): readonly KubeObject[] {
  const authority = { 'ca.crt': readFileSync(join(runDirectory, 'ca.crt'), 'utf8') };
  return [secretNames.postgresAuthority, secretNames.redisAuthority].map((name) => secret(name, authority));
}

/** Of the operators' port and the feed's; the tool in the pod shows them too. */
export function privatePortCertificates(authorityDirectory: string): readonly KubeObject[] {
  return [secretNames.operator, secretNames.feed].map((name) =>
    secret(name, signCertificate(authorityDirectory, ['localhost'])),
  );
}
