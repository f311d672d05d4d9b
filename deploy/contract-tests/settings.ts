// What the contract program knows about a deployment: a stack file, or a seed, the demo data and the issuer.
import { readFileSync } from 'node:fs';
import { allDemoUsers, demoPartners } from '@course-exchange/local-stack/demo-accounts';
import { readSeedFile } from '@course-exchange/local-stack/seed-file';
import { flag, origin, text, url } from '@course-exchange/runtime/process/setting-kinds';
import { readSettings, ruleOn, type SettingValues } from '@course-exchange/runtime/process/settings';
import { partnerFor, type StackFile, typicalUser } from '../../test/support/stack-file.ts';

const web = ['http:', 'https:'];
const file = 'the path of a file';

const settings = {
  CONTRACT_STACK: text(file)
    .optional()
    .describe('JSON file with issuer, partners and users of the deployment'),
  CONTRACT_SEED: text(file).optional().describe('JSON file with partners and users, in the form of --seed'),
  CONTRACT_DEMO: flag().default(false).describe('The deployment holds the demo data'),
  CONTRACT_DEMO_PARTNER_URL: url(web)
    .default('http://127.0.0.1:9000')
    .describe('Where the demo partner is, as the demo data were loaded'),
  CONTRACT_ISSUER: origin()
    .optional()
    .describe('Issuer of the deployment; stands above the one of CONTRACT_STACK'),
  CONTRACT_BASE_URL: url(web).optional().describe('Where requests for the issuer go, inside its proxy'),
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

export function readContractSettings(
  environment: Readonly<Record<string, string | undefined>>,
): ContractSettings {
  return readSettings(settings, environment, [source]);
}

/** Reads the files that `given` names. Throws with every mistake in them, and where nothing could be tried with them. */
export function deploymentOf(given: ContractSettings): StackFile {
  const { CONTRACT_STACK, CONTRACT_SEED, CONTRACT_ISSUER } = given;
  const path = CONTRACT_STACK ?? CONTRACT_SEED;
  const named = path === undefined ? noSeed : readSeedFile(path);
  const demo = given.CONTRACT_DEMO
    ? { partners: demoPartners(given.CONTRACT_DEMO_PARTNER_URL), users: allDemoUsers }
    : noSeed;
  const stack =
    CONTRACT_STACK === undefined ? {} : (JSON.parse(readFileSync(CONTRACT_STACK, 'utf8')) as object);
  const deployment = {
    ...stack,
    ...(CONTRACT_ISSUER === undefined ? {} : { issuer: CONTRACT_ISSUER }),
    partners: [...named.partners, ...demo.partners],
    users: [...named.users, ...demo.users],
  } as unknown as StackFile;
  if (typeof deployment.issuer !== 'string')
    throw new Error(`${path} names no issuer: add it, or set CONTRACT_ISSUER.`);
  typicalUser(deployment);
  partnerFor(deployment, 'openid', 'email', 'profile');
  return deployment;
}

const noSeed = { partners: [], users: [] };
