// Several identity processes over the same stores, as the pods of a deployment: each with ports and a log of its own.
import { dirname, join } from 'node:path';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import type { Member } from '@course-exchange/local-stack/members';
import { identityMember, type StackPlan } from '@course-exchange/local-stack/service-members';

export type PodName = 'identity' | `identity-${number}`;

export interface IdentityPod {
  readonly name: PodName;
  /** `host:port` of what the gateway and the catalog call. */
  readonly address: string;
  /** `host:port` of the operator port. */
  readonly operator: string;
  readonly logFile: string;
  readonly member: Member;
}

/** The pod of the plan itself and `count - 1` more: `identity-2`, `identity-3` … */
export async function identityPods(plan: StackPlan, count: number): Promise<readonly IdentityPod[]> {
  const pods: IdentityPod[] = [podOf(plan, 'identity')];
  const taken = [...Object.values(plan.ports)];
  for (let number = 2; number <= count; number += 1) {
    const ports = await choosePorts(['identity', 'identity-health', 'identity-operator'], {}, taken);
    taken.push(...Object.values(ports));
    pods.push(podOf({ ...plan, ports: { ...plan.ports, ...ports } }, `identity-${number}`));
  }
  return pods;
}

function podOf(plan: StackPlan, name: PodName): IdentityPod {
  const member = identityMember(plan);
  const logFile = join(dirname(member.program.logFile), `${name}.log`);
  return {
    name,
    address: member.address,
    operator: `127.0.0.1:${plan.ports['identity-operator']}`,
    logFile,
    member: { ...member, program: { ...member.program, name, logFile } },
  };
}

/** What a client of identity is given to balance over all `pods`. */
export function balanced(pods: readonly IdentityPod[]): Readonly<Record<string, string>> {
  const [only, ...others] = pods.map(({ address }) => address);
  return { IDENTITY_TARGET: others.length === 0 ? `${only}` : `ipv4:${[only, ...others].join(',')}` };
}
