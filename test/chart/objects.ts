// What tests ask of rendered objects: their pods, containers, and what a selector selects.
import type { KubernetesObject } from './render.ts';

export interface Pod {
  /** `Deployment/environment-course-exchange-gateway` */
  readonly owner: string;
  readonly namespace: string;
  readonly component: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: KubernetesObject;
}

export function nameOf(object: KubernetesObject): string {
  return `${object.kind}/${object.metadata.name}`;
}

export function ofKind(objects: readonly KubernetesObject[], kind: string): readonly KubernetesObject[] {
  return objects.filter((object) => object.kind === kind);
}

/** Pods that the objects are, or will make. */
export function podsOf(objects: readonly KubernetesObject[]): readonly Pod[] {
  return objects.flatMap((object) => {
    const maker = object.kind === 'CronJob' ? object.spec.jobTemplate : object;
    const pod = object.kind === 'Pod' ? object : maker.spec?.template;
    if (pod?.spec?.containers === undefined) return [];
    const labels: Record<string, string> = pod.metadata?.labels ?? {};
    const component = labels['app.kubernetes.io/component'] ?? '';
    return [
      { owner: nameOf(object), namespace: object.metadata.namespace, component, labels, spec: pod.spec },
    ];
  });
}

/** Whose settings a container's program reads; the demo partner lists them in its README. */
export const readers: Readonly<Record<string, string>> = {
  gateway: 'gateway',
  identity: 'identity',
  'design-catalog': 'design-catalog',
  'demo-partner': 'demo-partner',
  'check-identity': 'identity migration',
  'migrate-identity': 'identity migration',
  'check-design-catalog': 'design-catalog migration',
  'migrate-design-catalog': 'design-catalog migration',
};

export function containersOf(pod: Pod): readonly KubernetesObject[] {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  /** The chart and its sets of values write none. */
  readonly matchExpressions?: never;
}

/** An empty selector selects everything. Throws for what it would not judge. */
export function selects(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  if (selector.matchExpressions !== undefined) throw new Error('expressions of selectors are not known here');
  return Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
}
