// For each value of the chart another one that is allowed, so that a test sees whether it makes a difference. What
// stands in no table follows from the value itself.
import type { Values } from './render.ts';

/** Where nearly everything is on, so that nearly every value matters. */
export const everything = 'test-everything-values';
const minimal = 'test-minimal-values';
const operators = 'production-operators-values';

export interface Change {
  /** The set of values that the change is made in. */
  readonly on: string;
  /** Laid over the set, before and after: what makes the value matter. */
  readonly with?: Values;
  readonly to: unknown;
  /** The value is only checked: another one is refused with this sentence. */
  readonly refused?: RegExp;
}

export type Entry = Partial<Change> | undefined;

const uris = 'test-uris-values';

const feedByUri = (role: string) => ({
  designCatalog: { feed: { enabled: true } },
  postgres: { roles: { [role]: { existingSecret: 'feed', uriKey: 'uri' } } },
});
const fixedReplicas = { defaults: { autoscaling: { enabled: false } } };
const ownAutoscaling = (component: string) => ({ [component]: { autoscaling: { enabled: true } } });
const label = { 'example.com/other': 'other' };
const resources = { cpu: '33m', memory: '333Mi' };
const behavior = { scaleDown: { stabilizationWindowSeconds: 33 } };
const peer = [{ ipBlock: { cidr: '198.51.100.0/24' } }];
const digest = `sha256:${'f'.repeat(64)}`;

export const ofOneValue: Readonly<Record<string, Entry>> = {
  environment: {
    to: 'production',
    refused:
      /demoPartner.enabled is refused in production: the demo partner belongs into a test environment\./,
  },
  issuer: { on: minimal, to: 'https://other.test' },
  clusterDomain: { to: 'other.local' },
  listenAddress: { to: '::' },
  global: { to: { imageRegistry: 'other.example' } },
  fullnameOverride: { to: 'other' },
  commonLabels: { to: label },
  'image.registry': { on: minimal, to: 'other.example' },
  'image.pullPolicy': { to: 'Never' },
  imagePullSecrets: { to: ['other'] },
  'defaults.logLevel': { to: 'warn' },
  'defaults.nodeFlags': { to: ['--max-old-space-size=301'] },
  'defaults.resources.requests': { to: resources },
  'defaults.resources.limits': { to: resources },
  'defaults.probes.startup': { to: { failureThreshold: 33 } },
  'defaults.probes.readiness': { to: { failureThreshold: 33 } },
  'defaults.probes.liveness': { to: { failureThreshold: 33 } },
  'defaults.podDisruptionBudget.maxUnavailable': { to: '33%' },
  'defaults.serviceAccount.annotations': { to: label },
  'defaults.podSecurityContext': { to: { runAsUser: 33333 } },
  'defaults.containerSecurityContext': { to: { runAsUser: 33333 } },
  'defaults.dnsConfig': { to: { options: [{ name: 'ndots', value: '3' }] } },
  'defaults.podLabels': { to: label },
  'defaults.podAnnotations': { to: label },
  'defaults.nodeSelector': { to: label },
  'defaults.tolerations': { to: [{ operator: 'Exists' }] },
  'defaults.affinity': { to: { podAntiAffinity: {} } },
  'defaults.topologySpreadConstraints': {
    to: [{ maxSkew: 3, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' }],
  },
  'defaults.hostAliases': { to: [{ ip: '192.0.2.1', hostnames: ['other.test'] }] },
  'defaults.extraEnv': { to: [{ name: 'OTHER', value: 'other' }] },
  'defaults.extraVolumes': { to: [{ name: 'other', emptyDir: {} }] },
  'defaults.extraVolumeMounts': { to: [{ name: 'other', mountPath: '/other' }] },
  'gateway.replicas': { with: fixedReplicas },
  'gateway.service.annotations': { to: label },
  'gateway.trustedProxies': { to: ['192.0.2.1'] },
  'gateway.links.support': { to: 'mailto:other@courses.example' },
  'identity.replicas': { with: fixedReplicas },
  'identity.accessTokenAlgorithm': { to: 'ES256' },
  'identity.operator.enabled': { on: minimal },
  'identity.keyRotation.enabled': { to: false },
  'identity.keyRotation.schedule': { to: '0 0 * * *' },
  'identity.keyRotation.olderThan': { to: '33d' },
  'identity.keyRotation.resources': { to: { requests: resources } },
  'migrations.serviceAccount.create': { to: true, refused: /migrations.serviceAccount.create/ },
  'postgres.tls.mode': { to: 'disable' },
  'postgres.tls.caSecret.name': { on: operators },
  'postgres.tls.caSecret.key': { on: operators },
  'redis.mode': { on: minimal, to: 'cluster' },
  'redis.hosts': { to: ['other:26379'] },
  'internalTls.certManager.enabled': {
    with: { internalTls: { secretNames: { gateway: 'a', identity: 'b', designCatalog: 'c' } } },
    to: false,
  },
  'internalTls.certManager.issuerRef': { to: { name: 'other' } },
  'internalTls.certManager.duration': { to: '33h' },
  'internalTls.certManager.renewBefore': { to: '3h' },
  'ingress.host': {
    to: 'other.test',
    refused: /ingress\.host is not the issuer's host: set it to everything\.test/,
  },
  'ingress.annotations': { to: label },
  'ingress.limits.controller': { to: 'none' },
  'ingress.limits.bodySize': { to: '33k' },
  'httpRoute.annotations': { to: label },
  'httpRoute.parentRefs': { to: [{ name: 'other' }] },
  'httpRoute.requestTimeout': { to: '33s' },
  'networkPolicy.ingressController.namespaceSelector': { to: { matchLabels: label } },
  'networkPolicy.ingressController.podSelector': { to: { matchLabels: label } },
  'networkPolicy.ingressController.ipBlocks': { to: ['198.51.100.0/24'] },
  'networkPolicy.gatewayFrom': { to: peer },
  'networkPolicy.monitoring': { to: peer },
  'networkPolicy.operatorFrom': { to: peer },
  'networkPolicy.feedFrom': { to: peer },
  'networkPolicy.dnsTo': { to: peer },
  'networkPolicy.dnsPorts': { to: [5353] },
  'networkPolicy.postgresTo': { to: peer },
  'networkPolicy.redisTo': { to: peer },
  'networkPolicy.telemetryTo': { to: peer },
  'networkPolicy.issuerTo': { to: peer },
  'networkPolicy.issuerPorts': { to: [3333] },
  'telemetry.endpoint': { to: 'http://other:4318' },
  'telemetry.samplerRatio': { to: 0.3 },
  'metrics.serviceMonitor.interval': { to: '33s' },
  'metrics.serviceMonitor.scrapeTimeout': { to: '3s' },
  'metrics.serviceMonitor.labels': { to: label },
  'metrics.serviceMonitor.relabelings': { to: [{ action: 'labeldrop', regex: 'other' }] },
  'metrics.prometheusRule.labels': { to: label },
  'metrics.prometheusRule.additionalGroups': { to: [{ name: 'other', rules: [] }] },
  'metrics.dashboards.labels': { to: label },
  'metrics.dashboards.annotations': { to: label },
  'demoPartner.publicUrl': { to: 'https://other.test' },
  'demoPartner.dataSizeLimit': { to: '33Mi' },
  'demoPartner.ingress.annotations': { to: label },
};

/** Of paths that several components have. */
export const ofMany: readonly (readonly [RegExp, (component: string) => Entry])[] = [
  [/^(\w+)\.image\.digest$/, () => ({ to: digest })],
  [/^(\w+)\.autoscaling\.behavior$/, (component) => ({ with: ownAutoscaling(component), to: behavior })],
  [/^(\w+)\.autoscaling\.(m|t)\w+$/, (component) => ({ with: ownAutoscaling(component) })],
  [/^gateway\.links\.(\w+)$/, (link) => ({ to: `https://courses.example/other-${link}` })],
  [/^postgres\.roles\.(catalogFeed)\.uriKey$/, (role) => ({ on: uris, with: feedByUri(role), to: 'other' })],
  [/^postgres\.roles\.(\w+)\.uriKey$/, () => ({ on: uris, to: 'other' })],
];
