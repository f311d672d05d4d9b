// The Pod Security standard "restricted" (with "baseline" under it), as kubernetes.io/docs/concepts/security/
// pod-security-standards lists it, and beyond it what the house asks: a read-only root and no account token.
import type { KubernetesObject } from './render.ts';

const volumeKinds = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);
const safeSysctls =
  /^(kernel\.shm_rmid_forced|net\.ipv4\.(ip_local_port_range|ip_unprivileged_port_start|tcp_syncookies|ping_group_range|ip_local_reserved_ports|tcp_keepalive_time|tcp_fin_timeout|tcp_keepalive_intvl|tcp_keepalive_probes))$/;
const seccomp = ['RuntimeDefault', 'Localhost'];
const seLinuxTypes = [
  undefined,
  '',
  'container_t',
  'container_init_t',
  'container_kvm_t',
  'container_engine_t',
];

type Rule = (spec: KubernetesObject) => boolean;

const podRules: Readonly<Record<string, Rule>> = {
  'shares no namespace of the host': (pod) => !(pod.hostNetwork || pod.hostPID || pod.hostIPC),
  'has only volumes that hold no part of the host': (pod) =>
    (pod.volumes ?? []).every((volume: KubernetesObject) =>
      Object.keys(volume).every((key) => key === 'name' || volumeKinds.has(key)),
    ),
  'sets only safe sysctls': (pod) =>
    (pod.securityContext?.sysctls ?? []).every(({ name }: { name: string }) => safeSysctls.test(name)),
  'mounts no account token': (pod) => pod.automountServiceAccountToken === false,
};

/** Of a container's context, with the pod's under it where Kubernetes takes that. */
const containerRules: Readonly<Record<string, Rule>> = {
  'is not privileged': ({ own }) => !own.privileged && !own.windowsOptions?.hostProcess,
  'may not gain privileges': ({ own }) => own.allowPrivilegeEscalation === false,
  'has no capabilities': ({ own }) =>
    (own.capabilities?.drop ?? []).includes('ALL') &&
    (own.capabilities?.add ?? []).every((name: string) => name === 'NET_BIND_SERVICE'),
  'runs as another than root': ({ both }) =>
    both.runAsNonRoot === true && both.runAsUser !== undefined && both.runAsUser !== 0,
  'has a seccomp profile': ({ both }) => seccomp.includes(both.seccompProfile?.type),
  'keeps the SELinux type': ({ both }) =>
    seLinuxTypes.includes(both.seLinuxOptions?.type) &&
    !both.seLinuxOptions?.user &&
    !both.seLinuxOptions?.role,
  'keeps AppArmor': ({ both }) => both.appArmorProfile?.type !== 'Unconfined',
  'keeps /proc masked': ({ own }) => (own.procMount ?? 'Default') === 'Default',
  'writes nothing to its root': ({ own }) => own.readOnlyRootFilesystem === true,
  'takes no port of the host': ({ container }) =>
    (container.ports ?? []).every(({ hostPort }: { hostPort?: number }) => !hostPort),
  'is asked on no other host': ({ container }) =>
    ['startupProbe', 'readinessProbe', 'livenessProbe'].every(
      (probe) => !container[probe]?.httpGet?.host && !container[probe]?.tcpSocket?.host,
    ),
};

/** A line for each rule that a pod breaks: `identity: runs as another than root`. */
export function securityBreaches(pod: KubernetesObject): readonly string[] {
  const broken = Object.entries(podRules).filter(([, rule]) => !rule(pod));
  const containers: KubernetesObject[] = [
    ...(pod.initContainers ?? []),
    ...(pod.ephemeralContainers ?? []),
    ...pod.containers,
  ];
  const brokenInside = containers.flatMap((container) => {
    const own = container.securityContext ?? {};
    const judged = { container, own, both: { ...pod.securityContext, ...own } };
    return Object.entries(containerRules)
      .filter(([, rule]) => !rule(judged))
      .map(([says]) => `${container.name}: ${says}`);
  });
  return [...broken.map(([says]) => `pod: ${says}`), ...brokenInside];
}
