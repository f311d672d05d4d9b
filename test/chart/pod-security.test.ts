// The predicates themselves: each rule fires, and a pod as it should be passes.
import { expect, test } from 'vitest';
import { securityBreaches } from './pod-security.ts';

const context = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};
const pod = (change: object = {}, ofContainer: object = {}, ofContext: object = {}) => ({
  automountServiceAccountToken: false,
  securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [{ name: 'one', securityContext: { ...context, ...ofContext }, ...ofContainer }],
  ...change,
});

test('a pod as it should be breaks no rule', () => {
  expect(securityBreaches(pod())).toEqual([]);
  expect(securityBreaches(pod({ volumes: [{ name: 'a', projected: {} }] }))).toEqual([]);
});

test.each([
  ['pod: shares no namespace of the host', pod({ hostNetwork: true })],
  ['pod: has only volumes that hold no part of the host', pod({ volumes: [{ name: 'a', hostPath: {} }] })],
  ['pod: mounts no account token', pod({ automountServiceAccountToken: undefined })],
  [
    'pod: sets only safe sysctls',
    pod({
      securityContext: { ...pod().securityContext, sysctls: [{ name: 'kernel.msgmax', value: '1' }] },
    }),
  ],
  ['one: is not privileged', pod({}, {}, { privileged: true })],
  ['one: may not gain privileges', pod({}, {}, { allowPrivilegeEscalation: undefined })],
  ['one: has no capabilities', pod({}, {}, { capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } })],
  ['one: has no capabilities', pod({}, {}, { capabilities: { drop: ['NET_RAW'] } })],
  ['one: runs as another than root', pod({}, {}, { runAsNonRoot: false })],
  ['one: runs as another than root', pod({}, {}, { runAsUser: 0 })],
  ['one: has a seccomp profile', pod({}, {}, { seccompProfile: { type: 'Unconfined' } })],
  ['one: keeps the SELinux type', pod({}, {}, { seLinuxOptions: { type: 'spc_t' } })],
  ['one: keeps AppArmor', pod({}, {}, { appArmorProfile: { type: 'Unconfined' } })],
  ['one: keeps /proc masked', pod({}, {}, { procMount: 'Unmasked' })],
  ['one: writes nothing to its root', pod({}, {}, { readOnlyRootFilesystem: false })],
  ['one: takes no port of the host', pod({}, { ports: [{ hostPort: 80 }] })],
  ['one: is asked on no other host', pod({}, { livenessProbe: { httpGet: { host: '10.0.0.1' } } })],
])('%s', (says, bad) => {
  expect(securityBreaches(bad)).toEqual([says]);
});
