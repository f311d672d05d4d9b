// A separate job: fills a test environment with partners and users, from a file in the form of `--seed` or with the
// demo data. What is there already stays as operators have left it. Exit code 0, or 1 with the reason. Production refuses it: its partners are registered by operators.
import { demoPartners } from '@course-exchange/local-stack/demo-accounts';
import { seedContent, seedDemoData } from '@course-exchange/local-stack/seed';
import { readSeedFile } from '@course-exchange/local-stack/seed-file';
import { postgresAccess, postgresSettings } from '@course-exchange/runtime/postgres/settings';
import { choice, text, url } from '@course-exchange/runtime/process/setting-kinds';
import { readSettings, ruleOn } from '@course-exchange/runtime/process/settings';
import pg from 'pg';

const settings = {
  ENVIRONMENT: choice(['production', 'test']).describe('Which environment this is; only test may be filled'),
  ...postgresSettings('MIGRATOR_POSTGRES', 'Database, as role identity_migrator'),
  SEED_PATH: text('the path of a file')
    .optional()
    .describe('Path of a JSON file with partners and users; - is standard input'),
  DEMO_PARTNER_URL: url(['http:', 'https:'])
    .optional()
    .describe('Loads the demo data; where the demo partner is'),
};

const onlyTest = ruleOn(settings, ['ENVIRONMENT'], ({ ENVIRONMENT }) =>
  ENVIRONMENT === 'production'
    ? ['ENVIRONMENT is production: expected test, for nothing else is ever seeded']
    : [],
);

try {
  await run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function run(): Promise<void> {
  const config = readSettings(settings, process.env, [onlyTest]);
  const content = config.SEED_PATH === undefined ? undefined : readSeedFile(config.SEED_PATH);
  const client = new pg.Client(postgresAccess('MIGRATOR_POSTGRES').read());
  await client.connect();
  try {
    if (config.DEMO_PARTNER_URL) await seedDemoData(client, demoPartners(config.DEMO_PARTNER_URL));
    if (content) await seedContent(client, content, 'keep');
  } finally {
    await client.end();
  }
  process.stdout.write('seeded\n');
}
