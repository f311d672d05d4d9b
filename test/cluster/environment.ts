// One environment in a namespace of its own: stores, Secrets as an operator makes them, and the chart's release.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { demoPartners } from '@course-exchange/local-stack/demo-partners';
import { demoPeople } from '@course-exchange/local-stack/demo-people';
import { roles } from '../support/database-roles.ts';
import { signCertificate } from './certificates.ts';
import { findIngress, leadTo } from './ingress.ts';
import { type Kube, type KubeObject, kubeIn } from './kube.ts';
import { components } from './pods.ts';
import { chartBefore, helmProgram, imageTagBefore, runDirectory, runLabel, runName } from './settings.ts';
import { secret } from './store-manifests.ts';
import { type Stores, startStores } from './stores.ts';
import { secretNames, valuesFor } from './values.ts';

export const release = 'course-exchange';
export const chart = fileURLToPath(new URL('../../helm/course-exchange', import.meta.url));

export interface Environment {
  readonly kube: Kube;
  readonly stores: Stores;
  readonly issuer: string;
  readonly partnerUrl: string;
  /** Words for `helm install` and `helm upgrade`: release, chart, values. */
  readonly helmWords: readonly string[];
  /** The same for the version before, where there is one. */
  readonly helmWordsBefore: readonly string[];
}

/** A namespace of this run; Pod Security "restricted" is enforced, or "privileged" for tools. */
export async function makeNamespace(name: string, level: 'restricted' | 'privileged'): Promise<Kube> {
  const kube = kubeIn(`course-exchange-test-${runName}-${name}`);
  const labels = { [runLabel]: runName, 'pod-security.kubernetes.io/enforce': level };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: kube.namespace, labels } };
  await kube.apply(namespace as KubeObject);
  return kube;
}

/** Everything that `helm install` finds there: stores and Secrets. */
export async function prepareEnvironment(name: string, replicas: number): Promise<Environment> {
  const kube = await makeNamespace(name, 'restricted');
  const host = name === 'one' ? 'exchange.test' : `exchange-${name}.test`;
  const [issuer, partnerUrl] = [`https://${host}`, `https://partner.${host}`];
  const [stores, ingressAddress] = await Promise.all([startStores(kube), findIngress(kube)]);
  leadTo(ingressAddress, issuer, partnerUrl);
  await kube.apply(...operatorSecrets(stores, [host, `partner.${host}`]), ...tlsSecrets(kube.namespace));
  const values = join(runDirectory, `values-${name}.json`);
  writeFileSync(values, JSON.stringify(valuesFor({ issuer, partnerUrl, replicas, ingressAddress }), null, 2));
  const [helmWords, helmWordsBefore] = [wordsFor(chart, values), wordsBefore(values)];
  return { kube, stores, issuer, partnerUrl, helmWords, helmWordsBefore };
}

function wordsFor(folder: string, values: string): readonly string[] {
  return [release, folder, '--values', join(folder, 'values-test.yaml'), '--values', values];
}

/** With this version's chart where the one before does not know these values. */
function wordsBefore(values: string): readonly string[] {
  const tag = ['--set-string', `image.tag=${imageTagBefore}`];
  const words = [...wordsFor(chartBefore, values), ...tag];
  const known = chartBefore !== '' && spawnSync(helmProgram, ['template', ...words]).status === 0;
  return known ? words : [...wordsFor(chart, values), ...tag];
}

function operatorSecrets(stores: Stores, hosts: readonly [string, string]): readonly KubeObject[] {
  const key = () => randomBytes(32).toString('base64url');
  const partner = demoPartners('https://unused.test')[0];
  return [
    secret(secretNames.keys, { 'key-encryption-key': key(), 'user-hash-key': key() }),
    secret(secretNames.redis, { password: stores.redisPassword }),
    secret(secretNames.partner, {
      'client-secret': partner?.clientSecret ?? '',
      'token-encryption-key': key(),
    }),
    ...roles.map((role) =>
      secret(secretNames.role(role), { username: role, password: stores.rolePasswords[role] }),
    ),
    secret(secretNames.stack, { 'stack.json': JSON.stringify(stackFor(hosts)) }),
    tlsSecret(secretNames.ingress, hosts),
  ];
}

/** Whom `helm test` finds there: the demo data. */
function stackFor([host, partnerHost]: readonly [string, string]): object {
  const partners = demoPartners(`https://${partnerHost}`);
  return { issuer: `https://${host}`, partners, users: demoPeople };
}

/** A certificate for each component, by the name of its Service. */
function tlsSecrets(namespace: string): readonly KubeObject[] {
  return components.map((component) => componentCertificate(namespace, component, runDirectory));
}

/** `authorityDirectory` holds the authority that signs; `trusted` is what the component believes, else that authority. */
export function componentCertificate(
  namespace: string,
  component: string,
  authorityDirectory: string,
  trusted?: string,
): KubeObject {
  const name = `${release}-${component}.${namespace}.svc`;
  return tlsSecret(secretNames.tls(component), [`${name}.cluster.local`, name], authorityDirectory, trusted);
}

function tlsSecret(
  name: string,
  hosts: readonly [string, ...string[]],
  authorityDirectory = runDirectory,
  trusted?: string,
): KubeObject {
  const { certificate, key, authority } = signCertificate(authorityDirectory, hosts);
  return {
    ...secret(name, { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': trusted ?? authority }),
    type: 'kubernetes.io/tls',
  };
}
