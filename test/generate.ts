// The generate command: writes what git does not hold (code of .proto files, the chart's rules and dashboards), and the parts of
// pages that code knows. With `--check` it writes no page and names those that are stale; exit code 1 when there is one.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateChartFiles } from '@course-exchange/observability/generate';
import { generateProto } from '@course-exchange/proto/generate';
import { valueSchema } from './chart/value-schema.ts';
import { root } from './check/step.ts';
import { commandsPart, exitCodesPart, generalOptionsPart, sharedOptionsPart } from './generate/cli.ts';
import * as lists from './generate/lists.ts';
import * as observed from './generate/observability.ts';
import { type Part, unwritten, withParts } from './generate/page.ts';
import { settingsParts, valuesPart } from './generate/settings.ts';

const pages: Readonly<Record<string, Readonly<Record<string, Part>>>> = {
  'docs/cli.md': {
    options: generalOptionsPart,
    'shared options': sharedOptionsPart,
    'exit codes': exitCodesPart,
    commands: commandsPart,
  },
  'docs/decisions/README.md': { decisions: lists.decisionsPart },
  'docs/errors.md': { errors: lists.errorsPart, redirects: lists.redirectsPart },
  'docs/on-call.md': { objectives: observed.objectivesPart, alerts: observed.alertsPart },
  'docs/rehearsals.md': { duties: lists.dutiesPart, scenarios: lists.scenariosPart },
  'docs/routes.md': { routes: lists.routesPart },
  'docs/settings.md': settingsParts,
  'docs/telemetry.md': {
    'log events': observed.logEventsPart,
    metrics: observed.metricsPart,
    'security events': observed.securityEventsPart,
    'span attributes': observed.spanAttributesPart,
  },
  'helm/course-exchange/VALUES.md': { values: valuesPart },
  'test/README.md': { suites: lists.suitesPart },
};

const files: Readonly<Record<string, () => string>> = {
  'helm/course-exchange/values.schema.json': () => jsonText(valueSchema()),
  'deploy/observability/log-events.schema.json': () => jsonText(observed.logEventsSchema()),
};

generateProto();
generateChartFiles();
const check = process.argv.includes('--check');
const stale: string[] = [];
for (const [path, parts] of Object.entries(pages)) write(path, (before) => withParts(before, parts));
for (const [path, text] of Object.entries(files)) write(path, text);
for (const line of stale) console.error(line);
process.exitCode = stale.length > 0 ? 1 : 0;

function write(path: string, make: (before: string) => string): void {
  const file = join(root, path);
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const after = make(before);
  if (after.includes(unwritten)) stale.push(`${path}: write a sentence for "${unwritten}"`);
  if (after === before) return;
  if (check) stale.push(`${path} is stale: run \`npx --yes pnpm@12 generate\``);
  else writeFileSync(file, after);
}

/** As the formatter has it. */
function jsonText(value: unknown): string {
  const biome = join(root, 'node_modules/.bin/biome');
  const options = { cwd: root, input: JSON.stringify(value), encoding: 'utf8', maxBuffer: 16 << 20 } as const;
  return execFileSync(biome, ['format', '--stdin-file-path=generated.json'], options);
}
