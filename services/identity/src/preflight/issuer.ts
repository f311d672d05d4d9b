// Whether the address that goes into every token is the one under which partners reach this installation (R28).
import { type Finding, failure, leftOut } from '@course-exchange/runtime/preflight/checks';

export interface IssuerSettings {
  readonly ISSUER: string | undefined;
  readonly ENVIRONMENT: 'production' | 'test' | undefined;
  /** Host of the ingress. */
  readonly PUBLIC_HOST: string | undefined;
}

export function checkIssuer({ ISSUER, ENVIRONMENT, PUBLIC_HOST }: IssuerSettings): readonly Finding[] {
  if (ISSUER === undefined) return [leftOut('ISSUER is not set here.')];
  const { protocol, hostname } = new URL(ISSUER);
  const findings: Finding[] = [];
  if (ENVIRONMENT === 'production' && protocol !== 'https:')
    findings.push(failure(`ISSUER is ${ISSUER}, but production needs https: set an https address.`));
  if (PUBLIC_HOST !== undefined && PUBLIC_HOST.toLowerCase() !== hostname)
    findings.push(
      failure(
        `The host of ISSUER is ${hostname}, but the ingress answers for ${PUBLIC_HOST}: set both to the host that partners call.`,
      ),
    );
  return findings;
}
