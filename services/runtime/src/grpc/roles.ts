// What the holder of a certificate may call: its one OU is its role.
import type { DescMethod } from '@bufbuild/protobuf';
import { DetailedFailure } from '../process/errors.ts';
import { type Logger, logText } from '../process/logger.ts';
import { certifiedActor, type IncomingCall } from './incoming-call.ts';
import { methodPath } from './methods.ts';

export interface RoleTable {
  /** The first one alone may call what `methods` lacks. */
  readonly roles: readonly [string, ...string[]];
  /** By gRPC path. */
  readonly methods: Readonly<Record<string, readonly string[]>>;
}

/** Undefined without mTLS or OU. Behind `expectRole` there is at most one. */
export function roleOf({ certificate }: IncomingCall): string | undefined {
  return unitsOf(certificate())[0];
}

/**
 * For `authenticate`: throws `permission_denied` unless the certificate's role may call the method. In this version a
 * certificate without an OU may call every method; a warning says so, once for each name.
 */
export function expectRole({ roles, methods }: RoleTable, logger: Logger) {
  const warned = new Set<string | undefined>();
  const warnOnce = (name: string | undefined): void => {
    if (!warned.has(name)) logger.warn('certificate without a role', operatorField(name));
    warned.add(name);
  };
  return ({ certificate }: IncomingCall, method: DescMethod): void => {
    const shown = certificate();
    if (shown === undefined) return;
    const units = unitsOf(shown);
    const name = certifiedActor(shown);
    if (units.length === 0) {
      warnOnce(name);
      return;
    }
    const rpc = methodPath(method);
    const allowed = methods[rpc] ?? roles.slice(0, 1);
    const role = roles.find((one) => units.length === 1 && one === units[0]);
    if (role !== undefined && allowed.includes(role)) return;
    logger.warn('operator refused', {
      rpc: logText(rpc),
      ...operatorField(name),
      role: logText(role ?? 'none'),
    });
    throw new DetailedFailure(
      'permission_denied',
      role === undefined
        ? `The certificate must have exactly one OU, which names its role: ${roles.join(', ')}.`
        : `${method.name} is not for a certificate of the role ${role}, only for ${allowed.join(', ')}.`,
    );
  };
}

function operatorField(name: string | undefined) {
  return name === undefined ? {} : { operator: logText(name) };
}

function unitsOf(shown: ReturnType<IncomingCall['certificate']>): readonly string[] {
  return [shown?.subject?.OU ?? []].flat();
}
