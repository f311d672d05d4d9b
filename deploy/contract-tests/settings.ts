// What the contract program is told about a deployment: a stack file, or a seed, the demo data and the issuer.
import { demoPartners } from '@course-exchange/local-stack/demo-partners';
import { demoPeople } from '@course-exchange/local-stack/demo-people';
import { readSeedFile } from '@course-exchange/local-stack/seed-content';
import { readSettings, ruleOn, type SettingValues } from '@course-exchange/runtime/env';
import { flag, maybe, optional, origin, text, url } from '@course-exchange/runtime/variables';
import { readStackFile, type StackFile } from '../../test/support/stack-file.ts';

const web = ['http:', 'https:'];
const file = 'the path of a file';

const settings = {
  CONTRACT_STACK: maybe(text('JSON file with issuer, partners and users of the deployment', file)),
  CONTRACT_SEED: maybe(text('JSON file with partners and users, in the form of --seed', file)),
  CONTRACT_DEMO: optional(flag('the deployment holds the demo data'), false),
  CONTRACT_DEMO_PARTNER_URL: optional(
    url('where the demo partner is, as the demo data were loaded', web),
    'http://127.0.0.1:9000',
  ),
  CONTRACT_ISSUER: maybe(origin('issuer of the deployment; stands above the one of CONTRACT_STACK')),
  CONTRACT_BASE_URL: maybe(url('where requests for the issuer go, inside its proxy', web)),
};

type ContractSettings = SettingValues<typeof settings>;

const source = ruleOn(
  settings,
  ['CONTRACT_STACK', 'CONTRACT_SEED', 'CONTRACT_DEMO', 'CONTRACT_ISSUER'],
  ({ CONTRACT_STACK, CONTRACT_SEED, CONTRACT_DEMO, CONTRACT_ISSUER }) => {
    const seeded = CONTRACT_SEED !== undefined || CONTRACT_DEMO;
    if (CONTRACT_STACK === undefined && !seeded)
      return [
        'CONTRACT_STACK is missing: expected it, or CONTRACT_SEED or CONTRACT_DEMO with CONTRACT_ISSUER',
      ];
    if (CONTRACT_STACK !== undefined && seeded)
      return ['CONTRACT_STACK stands beside CONTRACT_SEED or CONTRACT_DEMO: expected one source of partners'];
    if (CONTRACT_STACK === undefined && CONTRACT_ISSUER === undefined)
      return ['CONTRACT_ISSUER is missing: expected the issuer that the seeded partners call'];
    return [];
  },
);

/** Throws an error that lists every mistake. */
export function readContractSettings(
  environment: Readonly<Record<string, string | undefined>>,
): ContractSettings {
  return readSettings(settings, environment, [source]);
}

/** Reads the files that `settings` name. Throws with every mistake of a seed. */
export function deploymentOf(given: ContractSettings): StackFile {
  const { CONTRACT_STACK, CONTRACT_SEED, CONTRACT_ISSUER } = given;
  if (CONTRACT_STACK !== undefined) {
    const stack = readStackFile(CONTRACT_STACK);
    return { ...stack, issuer: CONTRACT_ISSUER ?? stack.issuer };
  }
  const demo = given.CONTRACT_DEMO
    ? { partners: demoPartners(given.CONTRACT_DEMO_PARTNER_URL), people: demoPeople }
    : { partners: [], people: [] };
  const seed = CONTRACT_SEED === undefined ? { partners: [], people: [] } : readSeedFile(CONTRACT_SEED);
  return {
    issuer: CONTRACT_ISSUER ?? '',
    partners: [...seed.partners, ...demo.partners] as unknown as StackFile['partners'],
    users: [...seed.people, ...demo.people],
  };
}
