// What the images are made of: `node deploy/images/supply-chain.ts [DIRECTORY]` writes a CycloneDX list for each
// program and licences.json, and asks the registry for known vulnerabilities. Ends with 1 for a licence that is not
// accepted, for a vulnerability that counts, and without an answer of the registry.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { auditProblems, findVulnerabilities, listLicences, pnpm, root, unaccepted } from './dependencies.ts';

const target = resolve(process.argv[2] ?? join(root, 'dist/supply-chain'));
const programs = ['gateway', 'identity', 'design-catalog', 'demo-partner', 'partnerctl'];

mkdirSync(target, { recursive: true });
for (const program of programs) await listComponents(program);
const problems = [...(await checkLicences()), ...auditProblems(await findVulnerabilities())];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

/** From the lockfile alone: what is installed at this moment plays no part. */
async function listComponents(program: string): Promise<void> {
  const file = join(target, `${program}.cdx.json`);
  const form = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--lockfile-only', '--prod'];
  const args = ['--filter', `@course-exchange/${program}`, 'sbom', ...form, '--out', file];
  const { status, stderr } = await pnpm(args);
  if (status !== 0) throw new Error(`pnpm sbom failed: ${stderr}`);
  console.log(file);
}

async function checkLicences(): Promise<readonly string[]> {
  const found = await listLicences();
  writeFileSync(join(target, 'licences.json'), `${JSON.stringify(found, null, 2)}\n`);
  for (const [licence, packages] of Object.entries(found))
    console.log(`${licence}: ${packages.length} packages`);
  return unaccepted(found);
}
