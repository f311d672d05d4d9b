// The tables of docs/settings.md and of the chart's VALUES.md. Every process and job that reads settings is in this list; the
// demo partner, which can be copied out of the repository, lists its own in its README.
import { identityRules } from '@course-exchange/local-stack/redis';
import * as base from '@course-exchange/runtime/process/base-settings';
import { documentationOf, type Settings } from '@course-exchange/runtime/process/settings';
import { settings as catalog } from '../../services/design-catalog/src/config.ts';
import { migrationSettings as catalogMigration } from '../../services/design-catalog/src/preflight.ts';
import { settings as gateway } from '../../services/gateway/src/config.ts';
import { settings as identity } from '../../services/identity/src/config.ts';
import { migrationSettings as identityMigration } from '../../services/identity/src/preflight.ts';
import { type DocumentedValue, remarks, documentedValues as values } from '../chart/value-schema.ts';
import { code, type Part, table } from './page.ts';

export const programs: Readonly<Record<string, Settings>> = {
  gateway,
  identity,
  'identity migration': identityMigration,
  'design-catalog': catalog,
  'design-catalog migration': catalogMigration,
};

const shared: Settings = { ...base.baseSettings, ...base.telemetrySettings, ...base.rpcTlsSettings };

export const settingsParts: Readonly<Record<string, Part>> = {
  'every service': () => settingsTable(shared),
  gateway: () => serviceTable(gateway),
  identity: () => serviceTable(identity),
  'identity migration': () => jobPart(identityMigration, identity),
  'redis user': () => ['```', 'ACL SETUSER identity on >password', ...identityRules, '```'].join('\n'),
  'design-catalog': () => serviceTable(catalog),
  'design-catalog migration': () => jobPart(catalogMigration, catalog),
};

function serviceTable(settings: Settings): string {
  return settingsTable(settings, (name) => settings[name] !== shared[name]);
}

/** A job's own settings, and the names of those that are its service's. */
function jobPart(job: Settings, service: Settings): string {
  const own = settingsTable(job, (name) => !(name in service));
  const borrowed = Object.entries(job).filter(([name]) => name in service);
  const said = borrowed.map(
    ([name, one]) => code(name) + (documentationOf(one).required ? ' (required)' : ''),
  );
  return `${own}\n\nIt reads these of its service's settings, where they are set: ${said.join(', ')}.`;
}

function settingsTable(settings: Settings, isOwn = (_name: string) => true): string {
  const own = Object.entries(settings).filter(([name]) => isOwn(name));
  const rows = own.map(([name, setting]) => {
    const said = documentationOf(setting);
    return [code(name), said.about, said.expects, presetOf(said) + (said.secret ? ', secret' : '')];
  });
  return table(['variable', 'what it is for', 'expected', 'default'], rows);
}

function presetOf({ required, fallback }: ReturnType<typeof documentationOf>): string {
  if (required) return 'required';
  const preset = String(fallback ?? '');
  return preset === '' ? 'none' : code(preset);
}

export const valuesPart: Part = () => {
  const alone = values.filter(({ path }) => path.length === 1);
  const sections = Map.groupBy(values, ({ path }) => (path.length > 1 ? `${path[0]}` : ''));
  sections.delete('');
  const parts = [...sections].map(([section, rows]) => {
    const inside = [...remarks].filter(([path]) => path === section || path.startsWith(`${section}.`));
    const said = inside.map(([path, remark]) => (path === section ? remark : `\`${path}\`: ${remark}`));
    return [`### ${section}`, ...said, valueTable(rows)].join('\n\n');
  });
  return [`### Of the whole release\n\n${valueTable(alone)}`, ...parts].join('\n\n');
};

function valueTable(values: readonly DocumentedValue[]): string {
  const rows = values.map(({ path, type, description, defaultValue }) => [
    code(path.join('.')),
    type ?? typeof defaultValue,
    code(JSON.stringify(defaultValue)),
    description,
  ]);
  return table(['value', 'type', 'default', 'what it is'], rows);
}
