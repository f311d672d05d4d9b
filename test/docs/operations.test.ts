import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openRunDirectory } from '../../deploy/local/run-directory.ts';
import { portNames, type StackPlan } from '../../deploy/local/service-members.ts';
import { describeStack } from '../../deploy/local/stack-file.ts';
import { readinessChecks } from '../../services/identity/src/readiness.ts';
import { filesOfProject, read, section, tableRows } from './documents.ts';

const document = 'docs/operations.md';
const bare = (cell = '') => cell.replaceAll('`', '');
const sources = filesOfProject().filter(
  (path) => /^services\/[^/]+\/src\/.*\.ts$/.test(path) && !/\.test\.ts$|\/test-\w+\.ts$/.test(path),
);
describe(`${document}: health`, () => {
  const rows = tableRows(section(document, '## Health')).filter((row) => row.length === 3);

  test('names the checks of each process, and no others', () => {
    const nobody = {} as Parameters<typeof readinessChecks>[0];
    const warnings = [...read('services/identity/src/main.ts').matchAll(/warnings: \{ (\w+):/g)];
    const identity = [...Object.keys(readinessChecks(nobody)), ...warnings.map(([, name]) => name)];
    const [, block = ''] =
      /checks: \{\n([\s\S]*?)\n {4}\}/.exec(read('services/design-catalog/src/main.ts')) ?? [];
    const catalog = [...block.matchAll(/^ +(\w+):/gm)].map(([, name]) => name);
    const documented = (process: string) =>
      new Set(rows.filter(([name]) => name === process).map(([, check]) => check?.match(/\w+/)?.[0]));
    expect(documented('identity')).toEqual(new Set(identity));
    expect(documented('design-catalog')).toEqual(new Set(catalog));
  });

  test.each(rows)('%s %s: the sentence "%s" is the code\'s own', (process, _check, sentence) => {
    const text = sources
      .filter((path) => path.startsWith(`services/${process}/`) || path.startsWith('services/runtime/'))
      .map(read)
      .join('\n');
    for (const part of sentence.split('…').filter((each) => each.trim() !== ''))
      expect(text).toContain(part.trim());
  });
});

test(`${document}: lists every message that is logged, with its level`, () => {
  const logged = sources.flatMap((path) =>
    [...read(path).matchAll(/\b(?:logger|log)\.(debug|info|warn|error)\(\s*'([^']+)'/g)].map(
      ([, level, message]) => `${message} ${level}`,
    ),
  );
  const rows = tableRows(section(document, '## Logs')).filter((row) => row.length === 4);
  const documented = rows.map(([, message, level]) => `${bare(message)} ${level}`);
  expect([...new Set(documented)].sort()).toEqual([...new Set(logged)].sort());
});

describe(`${document}: local stack`, () => {
  const rows = tableRows(section(document, '## Local stack')).map(([name]) => bare(name));
  const firstField = rows.indexOf('issuer');

  test('lists the fields of stack.json', () => {
    expect(rows.slice(firstField)).toEqual(
      Object.keys(describeStack(planOfNothing(), { partners: [], people: [] }, [])),
    );
  });

  test('lists the files of a run directory', () => {
    const path = mkdtempSync(join(tmpdir(), 'course-exchange-docs-'));
    try {
      const { stackFile, logs, data, portsFile, processesFile, controlTokenFile } = openRunDirectory(path);
      const files = [stackFile, logs, data, portsFile, processesFile, controlTokenFile].map((file) =>
        basename(file),
      );
      const listed = rows.slice(0, firstField).map((name) => name.replace('/', ''));
      expect(listed.sort()).toEqual(files.sort());
    } finally {
      rmSync(path, { recursive: true });
    }
  });
});

function planOfNothing(): StackPlan {
  const ports = Object.fromEntries([...portNames, 'gateway'].map((name) => [name, 1]));
  const secrets = { postgresSuperuser: '', redis: '' };
  return { run: { logs: '' }, ports, secrets, issuer: '', demoPartner: {} } as unknown as StackPlan;
}
