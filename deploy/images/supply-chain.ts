// What the images are made of: the licences of production's packages and their known vulnerabilities, of which some may be
// accepted below with a reason and a last day. `node deploy/images/supply-chain.ts [DIRECTORY]` writes a CycloneDX list for
// each program and licences.json, and asks the registry for known vulnerabilities. It ends with 1 for a licence that is not
// accepted, for a vulnerability that counts, and without an answer of the registry.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';

export const root = resolve(import.meta.dirname, '../..');

export interface AcceptedVulnerability {
  readonly advisory: string;
  /** Why it does not reach us, or what is being waited for. */
  readonly reason: string;
  /** The last day of the acceptance, `2027-01-31`; afterwards the vulnerability counts again. */
  readonly until: string;
}

export const acceptedVulnerabilities: readonly AcceptedVulnerability[] = [];

interface Advisory {
  readonly title: string;
  readonly module_name: string;
  readonly severity: string;
  readonly github_advisory_id: string;
  readonly url: string;
  readonly patched_versions: string | null;
  /** A path begins with the folder in the workspace: `services__gateway>fastify`. */
  readonly findings: readonly { readonly version: string; readonly paths: readonly string[] }[];
}

const once = { pnpm_config_fetch_retries: '0', pnpm_config_fetch_timeout: '10000' };

/** Only `high` and `critical` count, and only in packages that reach an image. */
const weighty = ['high', 'critical'];

/** A sentence for each vulnerability that counts; `undefined` when the registry did not answer. */
export async function findVulnerabilities(
  registry?: string,
  accepted: readonly AcceptedVulnerability[] = acceptedVulnerabilities,
  today: string = new Date().toISOString().slice(0, 10),
): Promise<readonly string[] | undefined> {
  const args = ['audit', '--prod', '--audit-level', 'high', '--json'];
  const { stdout } = await pnpm(args, {
    ...once,
    ...(registry === undefined ? {} : { pnpm_config_registry: registry }),
  });
  if (!stdout.trimStart().startsWith('{')) return undefined;
  const { advisories } = JSON.parse(stdout) as { advisories?: Readonly<Record<string, Advisory>> };
  if (advisories === undefined) return undefined;
  const exempt = new Set(accepted.filter(({ until }) => until >= today).map(({ advisory }) => advisory));
  return Object.values(advisories)
    .filter(({ severity }) => weighty.includes(severity))
    .filter(({ findings }) => findings.some(({ paths }) => paths.some(reachesAnImage)))
    .filter(({ github_advisory_id }) => !exempt.has(github_advisory_id))
    .map(sentence);
}

export function auditProblems(found: Awaited<ReturnType<typeof findVulnerabilities>>): readonly string[] {
  return found ?? ['The package registry answered no audit: whether a vulnerability is known is not known.'];
}

function reachesAnImage(path: string): boolean {
  return /^(services__|deploy__images>)/.test(path);
}

function sentence(advisory: Advisory): string {
  const versions = advisory.findings.map(({ version }) => version).join(', ');
  const remedy = advisory.patched_versions
    ? `update to ${advisory.patched_versions}`
    : 'no version fixes it yet';
  return (
    `${advisory.module_name} ${versions} has a ${advisory.severity} vulnerability (${advisory.title}, ${advisory.url}): ${remedy}, ` +
    'or accept it with a reason in deploy/images/supply-chain.ts.'
  );
}

interface Listed {
  readonly name: string;
  readonly versions: readonly string[];
}

export type Licences = Readonly<Record<string, readonly Listed[]>>;

const acceptedLicences = [
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
];
/** For one package alone: partnerctl calls it unchanged, and anyone with the source can replace it. */
const acceptedLicenceOf: Readonly<Record<string, string>> = { openpgp: 'LGPL-3.0+' };

export async function listLicences(): Promise<Licences> {
  const listed = await pnpm(['--filter', './services/*', 'licenses', 'list', '--prod', '--json']);
  if (!listed.stdout.startsWith('{')) throw new Error(`pnpm licenses failed: ${listed.stderr}`);
  return JSON.parse(listed.stdout) as Licences;
}

export function unaccepted(licences: Licences): readonly string[] {
  return Object.entries(licences).flatMap(([licence, packages]) =>
    packages
      .filter(({ name }) => !isAccepted(licence) && acceptedLicenceOf[name] !== licence)
      .map(({ name }) => `${name} is under ${licence}, which is not accepted.`),
  );
}

function isAccepted(licence: string): boolean {
  return licence
    .replace(/[()]/g, '')
    .split(/ AND | OR /)
    .every((part) => acceptedLicences.includes(part));
}

interface Called {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Resolves also where it fails; rejects where there is no such program. */
export async function pnpm(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Called> {
  const [program = 'npx', ...first] = manager(process.env.npm_execpath);
  const options = {
    cwd: root,
    env: { ...process.env, ...environment },
    timeout: 300_000,
    maxBuffer: 1 << 28,
  };
  try {
    return { status: 0, ...(await promisify(execFile)(program, [...first, ...args], options)) };
  } catch (error) {
    const { code, stdout, stderr } = error as Called & { readonly code: number | string };
    if (typeof code === 'string') throw error;
    return { status: code, stdout, stderr };
  }
}

/** `running` is the package manager that started us, as it says in npm_execpath: a program, or a script for Node. */
function manager(running: string | undefined): readonly string[] {
  if (running === undefined || !/^pnpm\b/.test(basename(running))) return ['npx', '--yes', 'pnpm@12'];
  return /\.[cm]?js$/.test(running) ? [process.execPath, running] : [running];
}

if (import.meta.main) {
  const target = resolve(process.argv[2] ?? join(root, 'dist/supply-chain'));
  mkdirSync(target, { recursive: true });
  for (const program of ['gateway', 'identity', 'design-catalog', 'demo-partner', 'partnerctl'])
    await listComponents(program, join(target, `${program}.cdx.json`));
  const licences = await listLicences();
  writeFileSync(join(target, 'licences.json'), `${JSON.stringify(licences, null, 2)}\n`);
  for (const [licence, packages] of Object.entries(licences))
    console.log(`${licence}: ${packages.length} packages`);
  const problems = [...unaccepted(licences), ...auditProblems(await findVulnerabilities())];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

/** Reads the lockfile alone, not what is installed. */
async function listComponents(program: string, file: string): Promise<void> {
  const form = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--lockfile-only', '--prod'];
  const args = ['--filter', `@course-exchange/${program}`, 'sbom', ...form, '--out', file];
  const { status, stderr } = await pnpm(args);
  if (status !== 0) throw new Error(`pnpm sbom failed: ${stderr}`);
  console.log(file);
}
