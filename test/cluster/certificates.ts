// A test authority and the certificates that it signs: of the stores and of operators.
import { createAuthority } from '../rpc/certificate-authority.ts';

const made = await createAuthority();

/** A key of the Secrets that name whom a client trusts. */
export const authority = { 'ca.crt': made.certificate };

/** Keys of a Secret: a certificate for client and server use, for these names; a new key at every call. */
export async function signCertificate(...names: readonly string[]) {
  const { certificate, key } = await made.issue(names);
  return { 'tls.crt': certificate, 'tls.key': key, ...authority };
}
