// The licences of everything that runs in production, read from what is installed: no network.
import { pnpm } from './pnpm.ts';

interface Listed {
  readonly name: string;
  readonly versions: readonly string[];
}

/** Packages by the licence that they name. */
export type Licences = Readonly<Record<string, readonly Listed[]>>;

/** Licences that ask for no more than their own text and a notice. */
const accepted = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0'];
/** Accepted for one package: partnerctl calls it unchanged, and it can be put in its place by whoever has the source. */
const acceptedFor: Readonly<Record<string, string>> = { openpgp: 'LGPL-3.0+' };

export async function listLicences(): Promise<Licences> {
  const listed = await pnpm(['--filter', './services/*', 'licenses', 'list', '--prod', '--json']);
  if (!listed.stdout.startsWith('{')) throw new Error(`pnpm licenses failed: ${listed.stderr}`);
  return JSON.parse(listed.stdout) as Licences;
}

/** A sentence for each package under a licence that nobody accepted. */
export function unaccepted(licences: Licences): readonly string[] {
  return Object.entries(licences).flatMap(([licence, packages]) =>
    packages
      .filter(({ name }) => !isAccepted(licence) && acceptedFor[name] !== licence)
      .map(({ name }) => `${name} is under ${licence}, which nobody accepted.`),
  );
}

function isAccepted(licence: string): boolean {
  return licence
    .replace(/[()]/g, '')
    .split(/ AND | OR /)
    .every((part) => accepted.includes(part));
}
