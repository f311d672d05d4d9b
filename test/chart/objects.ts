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

export function containersOf(pod: Pod): readonly KubernetesObject[] {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** An empty selector selects everything. */
export function selects(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const equal = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return equal && (selector.matchExpressions ?? []).every((one) => holds(one, labels[one.key]));
}

function holds(
  expression: { readonly operator: string; readonly values?: readonly string[] },
  value: string | undefined,
): boolean {
  const among = value !== undefined && (expression.values ?? []).includes(value);
  if (expression.operator === 'In') return among;
  if (expression.operator === 'NotIn') return !among;
  if (expression.operator === 'Exists') return value !== undefined;
  if (expression.operator === 'DoesNotExist') return value === undefined;
  throw new Error(`no operator of selectors: ${expression.operator}`);
}
