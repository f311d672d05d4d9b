// What tests ask of rendered objects: their pods, containers, and what a selector selects.
import type { KubernetesObject } from './render.ts';

export interface Pod {
  /** `Deployment/environment-course-exchange-gateway` */
  readonly owner: string;
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

export function podsOf(objects: readonly KubernetesObject[]): readonly Pod[] {
  return objects.flatMap((object) => {
    const { metadata, spec } = (object.spec?.jobTemplate ?? object).spec?.template ?? {};
    if (spec?.containers === undefined) return [];
    const labels: Record<string, string> = metadata?.labels ?? {};
    const component = labels['app.kubernetes.io/component'] ?? '';
    return [{ owner: nameOf(object), component, labels, spec }];
  });
}

export function podOf(objects: readonly KubernetesObject[], component: string): Pod | undefined {
  return podsOf(objects).find((pod) => pod.component === component);
}

/** Those of the chart, also those that run before; `where` names the pod's owner and the container. */
export function containersOf(pods: readonly Pod[]): readonly KubernetesObject[] {
  return pods.flatMap((pod) =>
    [...(pod.spec.initContainers ?? []), ...pod.spec.containers]
      .filter(({ image }: KubernetesObject) => !image.startsWith('own/'))
      .map((container: KubernetesObject): KubernetesObject => {
        const where = `${pod.owner} ${container.name}`;
        return { args: [], env: [], volumeMounts: [], ...container, pod, where };
      }),
  );
}

/** An empty selector selects everything. Throws for expressions, which the chart and its sets of values have none of. */
export function selects({ matchLabels, ...others }: KubernetesObject, labels: Pod['labels']): boolean {
  if (Object.keys(others).length > 0) throw new Error('expressions of selectors are not known here');
  return Object.entries(matchLabels ?? {}).every(([key, value]) => labels[key] === value);
}
