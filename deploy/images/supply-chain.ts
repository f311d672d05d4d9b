// What the images are made of: `node deploy/images/supply-chain.ts [DIRECTORY]` writes a CycloneDX list for each
// program and licences.json, and asks the registry for known holes. Ends with 1 for a licence that nobody accepted
// or a hole of weight; a registry that answers no such question is named and passed over.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const target = resolve(process.argv[2] ?? join(root, 'dist/supply-chain'));
const programs = ['gateway', 'identity', 'design-catalog', 'demo-partner', 'partnerctl'];

/** Licences that ask for no more than their own text and a notice. */
const accepted = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0'];
/** Accepted for one package: partnerctl calls it unchanged, and it can be put in its place by whoever has the source. */
const acceptedFor: Readonly<Record<string, string>> = { openpgp: 'LGPL-3.0+' };

interface Listed {
  readonly name: string;
  readonly versions: readonly string[];
}

mkdirSync(target, { recursive: true });
for (const program of programs) listComponents(program);
const problems = [...checkLicences(), ...askForHoles()];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

/** From the lockfile alone: what is installed at this moment plays no part. */
function listComponents(program: string): void {
  const file = join(target, `${program}.cdx.json`);
  const form = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--lockfile-only', '--prod'];
  const { status, stderr } = pnpm('--filter', `@course-exchange/${program}`, 'sbom', ...form, '--out', file);
  if (status !== 0) throw new Error(`pnpm sbom failed: ${stderr}`);
  console.log(file);
}

function checkLicences(): readonly string[] {
  const { stdout, stderr } = pnpm('--filter', './services/*', 'licenses', 'list', '--prod', '--json');
  if (!stdout.startsWith('{')) throw new Error(`pnpm licenses failed: ${stderr}`);
  const found = JSON.parse(stdout) as Readonly<Record<string, readonly Listed[]>>;
  writeFileSync(join(target, 'licences.json'), `${JSON.stringify(found, null, 2)}\n`);
  for (const [licence, packages] of Object.entries(found))
    console.log(`${licence}: ${packages.length} packages`);
  return Object.entries(found).flatMap(([licence, packages]) =>
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

function askForHoles(): readonly string[] {
  const { status, stdout, stderr } = pnpm('audit', '--prod', '--audit-level', 'high');
  if (/ERR_PNPM_AUDIT_/.test(stdout + stderr)) {
    console.log('known holes: not asked, this registry answers no audit');
    return [];
  }
  return status === 0 ? [] : [stdout];
}

function pnpm(...words: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync('npx', ['--yes', 'pnpm@12', ...words], { cwd: root, encoding: 'utf8', timeout: 300_000 });
}
