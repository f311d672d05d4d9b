import type { Settings, Variable } from '@course-exchange/runtime/env';
import { describe, expect, test } from 'vitest';
import { settings as demoPartner } from '../../services/demo-partner/src/config.ts';
import { settings as catalog } from '../../services/design-catalog/src/config.ts';
import { migrationSettings as catalogMigration } from '../../services/design-catalog/src/migration-config.ts';
import { settings as gateway } from '../../services/gateway/src/config.ts';
import { settings as identity } from '../../services/identity/src/config.ts';
import { migrationSettings as identityMigration } from '../../services/identity/src/migration-config.ts';
import { codeSpans, filesOfProject, read, section, tableRows } from './documents.ts';

const processes: readonly (readonly [string, Settings])[] = [
  ['gateway', gateway],
  ['identity', identity],
  ['identity migration', identityMigration],
  ['design-catalog', catalog],
  ['design-catalog migration', catalogMigration],
  ['demo-partner', demoPartner],
];

/** A variable as the table writes it: name, what it is for, what is expected, default, secret or not. */
function rowOf([name, variable]: [string, Variable<unknown>]): string[] {
  const about = variable.about.charAt(0).toUpperCase() + variable.about.slice(1);
  return [`\`${name}\``, about, variable.expects, defaultOf(variable), variable.secret ? 'secret' : ''];
}

function defaultOf({ fallback }: Variable<unknown>): string {
  if (fallback === undefined) return 'required';
  const { value } = fallback;
  return value === undefined || (Array.isArray(value) && value.length === 0) ? 'none' : `\`${value}\``;
}

function written(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
}

describe('docs/settings.md', () => {
  test.each(processes)('lists exactly the settings of %s', (name, settings) => {
    const rows = tableRows(section('docs/settings.md', `## ${name}`));
    expect(written(rows)).toBe(written(Object.entries(settings).map(rowOf)));
  });

  test('names every variable that the local stack and the tests read', () => {
    const named = codeSpans(
      ['docs/settings.md', 'docs/images.md', 'test/README.md'].map((page) => read(page)).join('\n'),
    );
    const sources = filesOfProject().filter(
      (path) => /^(deploy|test)\/.*\.ts$/.test(path) && !path.startsWith('test/check/'),
    );
    const variables = sources.flatMap((path) =>
      [...read(path).matchAll(/process\.env\.([A-Z_]+)/g)].map(([, name]) => name ?? ''),
    );
    const ofTheSystem = ['PATH', 'HOME', 'TMPDIR', 'XDG_DATA_HOME'];
    const missing = variables.filter((name) => !ofTheSystem.includes(name) && !named.includes(name));
    expect([...new Set(missing)]).toEqual([]);
  });
});
