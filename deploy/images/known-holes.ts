// Known holes in what runs in production, as the package registry tells them. Only `high` and `critical` weigh, and
// only in packages that reach an image; those that we can live with are accepted below, with a reason and a last day.
import { pnpm } from './pnpm.ts';

export interface AcceptedHole {
  /** As the registry names it: `GHSA-…`. */
  readonly advisory: string;
  /** Why it does not reach us, or what is being waited for. */
  readonly reason: string;
  /** The last day of the acceptance, `2027-01-31`; afterwards the hole weighs again. */
  readonly until: string;
}

export const acceptedHoles: readonly AcceptedHole[] = [];

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

/** A registry out of reach is found out at once, not after a minute of trying again. */
const once = { pnpm_config_fetch_retries: '0', pnpm_config_fetch_timeout: '10000' };

/** A sentence for each hole that weighs; `undefined` when the registry did not answer. */
export async function knownHoles(
  registry?: string,
  holesAccepted: readonly AcceptedHole[] = acceptedHoles,
  today: string = new Date().toISOString().slice(0, 10),
): Promise<readonly string[] | undefined> {
  const words = ['audit', '--prod', '--audit-level', 'high', '--json'];
  const { stdout } = await pnpm(words, {
    ...once,
    ...(registry === undefined ? {} : { pnpm_config_registry: registry }),
  });
  if (!stdout.trimStart().startsWith('{')) return undefined;
  const { advisories } = JSON.parse(stdout) as { advisories?: Readonly<Record<string, Advisory>> };
  if (advisories === undefined) return undefined;
  const spared = new Set(holesAccepted.filter(({ until }) => until >= today).map(({ advisory }) => advisory));
  return Object.values(advisories)
    .filter(({ severity }) => severity === 'high' || severity === 'critical')
    .filter(({ findings }) => findings.some(({ paths }) => paths.some(reachesAnImage)))
    .filter(({ github_advisory_id }) => !spared.has(github_advisory_id))
    .map(sentence);
}

/** The programs, and the demo data's loader in the image of the migrations. */
function reachesAnImage(path: string): boolean {
  return /^(services__|deploy__images>)/.test(path);
}

function sentence(hole: Advisory): string {
  const versions = hole.findings.map(({ version }) => version).join(', ');
  const way = hole.patched_versions ? `update to ${hole.patched_versions}` : 'no version mends it yet';
  return (
    `${hole.module_name} ${versions} has a ${hole.severity} hole (${hole.title}, ${hole.url}): ${way}, ` +
    'or accept it with a reason in deploy/images/known-holes.ts.'
  );
}
