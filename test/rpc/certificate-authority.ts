// Authorities and certificates for tests of TLS between services, and folders that hold them as Kubernetes mounts a Secret:
// files that are links into a version, which is swapped as a whole.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../support/programs.ts';

export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

export type Authority = Awaited<ReturnType<typeof createAuthority>>;

/** What a folder of RPC_TLS_DIRECTORY holds. */
export interface Mounted extends Issued {
  readonly authority: string;
}

/**
 * A new key on P-256 and its certificate for a day, as deploy/kubernetes/prepare.sh makes them. The settings stand in a
 * file: not every OpenSSL finds its own.
 */
async function certify(subject: string, settings: string, signer?: Issued): Promise<Issued> {
  const folder = mkdtempSync(join(tmpdir(), 'authority-'));
  const [config, authority] = [join(folder, 'settings.cnf'), join(folder, 'authority.pem')];
  writeFileSync(config, `[req]\ndistinguished_name = names\n[own]\n${settings}`);
  if (signer) writeFileSync(authority, signer.key + signer.certificate);
  const fresh = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];
  const made = ['-days', '1', '-subj', `/${subject}`, '-config', config, '-extensions', 'own'];
  const signed = signer ? ['-CA', authority, '-CAkey', authority] : [];
  try {
    const words = [...fresh, ...made, ...signed, '-keyout', '-', '-out', '-'];
    const { command, env } = await findProgram('openssl');
    const { stdout } = await promisify(execFile)(command, words, { env: { ...process.env, ...env } });
    const at = stdout.indexOf('-----BEGIN CERTIFICATE');
    return { key: stdout.slice(0, at), certificate: stdout.slice(at) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function createAuthority(name = 'Test authority') {
  const own = await certify(`CN=${name}`, 'basicConstraints = critical,CA:TRUE\n[names]\n');
  return {
    certificate: own.certificate,
    /** For server and client alike. `subject`: the common name, or another attribute and its value, such as `O=x`. */
    issue: async (
      names: readonly string[] = ['localhost', '127.0.0.1'],
      subject = 'service',
    ): Promise<Issued> => {
      // In a section, a name may hold a comma.
      const altNames = names.map((one, at) => `${isIP(one) === 0 ? 'DNS' : 'IP'}.${at} = ${one}\n`);
      const extensions = 'basicConstraints = critical,CA:FALSE\nsubjectAltName = @names';
      const settings = `${extensions}\n[names]\n${altNames.join('')}`;
      return certify(subject.includes('=') ? subject : `CN=${subject}`, settings, own);
    },
  };
}

let versions = 0;

/** Puts `content` into `directory` in one step, over what was there. */
export function mount(directory: string, { certificate, key, authority }: Mounted): void {
  const version = `..version-${++versions}`;
  mkdirSync(join(directory, version), { recursive: true });
  symlinkSync(version, join(directory, '..data_tmp'));
  for (const [name, text] of [
    ['tls.crt', certificate],
    ['tls.key', key],
    ['ca.crt', authority],
  ] as const) {
    writeFileSync(join(directory, version, name), text);
    if (!existsSync(join(directory, name))) symlinkSync(join('..data', name), join(directory, name));
  }
  renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
}
