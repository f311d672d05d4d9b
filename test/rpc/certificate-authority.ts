// Authorities and certificates for tests of TLS between services, and folders that hold them as Kubernetes mounts a Secret:
// files that are links into a version, which is swapped as a whole.
import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { generate } from 'selfsigned';

const dayMs = 86_400_000;

export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

export type Authority = Awaited<ReturnType<typeof createAuthority>>;

/** What a folder of RPC_TLS_DIRECTORY holds. */
export interface Mounted extends Issued {
  readonly authority: string;
}

const plain = () => ({
  keyType: 'ec' as const,
  algorithm: 'sha256',
  notBeforeDate: new Date(Date.now() - dayMs),
  notAfterDate: new Date(Date.now() + dayMs),
});

export async function createAuthority(name = 'Test authority') {
  const { cert, private: signingKey } = await generate([{ name: 'commonName', value: name }], {
    ...plain(),
    extensions: [{ name: 'basicConstraints', cA: true, critical: true }],
  });
  return {
    certificate: `${cert}\n`,
    /** For server and client alike. `subject`: the common name, or another attribute and its value, such as `O=x`. */
    issue: async (
      names: readonly string[] = ['localhost', '127.0.0.1'],
      subject = 'service',
    ): Promise<Issued> => {
      const [value = '', shortName = 'CN'] = subject.split('=').reverse();
      const altNames = names.map((one) =>
        isIP(one) === 0 ? { type: 2 as const, value: one } : { type: 7 as const, ip: one },
      );
      const issued = await generate([{ shortName, value }], {
        ...plain(),
        ca: { cert, key: signingKey },
        extensions: [{ name: 'subjectAltName', altNames }],
      });
      return { certificate: `${issued.cert}\n`, key: issued.private };
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
