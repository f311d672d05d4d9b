// Proves that each import rule of .dependency-cruiser.ts fires: plants one violation for every rule in a copy of
// the layout and expects exactly the planted ones to be reported.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import rules from '../../.dependency-cruiser.ts';

interface Planting {
  readonly rule: string;
  readonly from: string;
  /** A file of the layout, or a package name. */
  readonly to: string;
}

/** The importing file of each line with a rule, and what it imports. */
function plantings(lines: string): readonly Planting[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const [rule = '', from = '', to = ''] = line.trim().split(' ');
      return { rule, from, to };
    });
}

const planted = plantings(`
  no-circle services/identity/src/token/a.ts services/identity/src/token/b.ts
  resolvable services/identity/src/main.ts ./nowhere.ts
  services-apart services/gateway/src/app.ts services/identity/src/clients/scope.ts
  runtime-below-everything services/runtime/src/process/settings.ts proto/generated/token.ts
  rules-below-everything services/rules/src/email.ts services/runtime/src/process/errors.ts
  proto-below-everything proto/generate.ts services/runtime/src/process/errors.ts
  drivers-in-stores services/identity/src/token/f.ts ioredis
  environment-on-top services/identity/src/keys/ring.ts node:fs
  rules-below-stores services/identity/src/users/user.ts services/identity/src/users/user-table.ts
  stores-below-use-cases services/identity/src/token/grant-store.ts services/identity/src/token/endpoint.ts
  wire-in-rpc services/identity/src/token/e.ts proto/generated/token.ts
  rpc-on-top services/identity/src/token/d.ts services/identity/src/token/rpc.ts
  rpc-translates-only services/identity/src/users/rpc.ts services/identity/src/users/user-table.ts
  main-on-top services/identity/src/other.ts services/identity/src/main.ts
  configuration-on-top services/identity/src/users/configured.ts services/identity/src/config.ts
  gateway-thin services/gateway/src/routes/resources.ts jose
  catalog-without-redis services/design-catalog/src/events/event-table.ts ioredis
  demo-partner-outside services/demo-partner/src/app.ts proto/generated/token.ts
  demo-partner-outside services/demo-partner/src/stop.ts services/runtime/src/failure.ts
  integrators-outside deploy/testcontainers/src/system.ts deploy/local/run-directory.ts
  production-without-tests services/gateway/src/main.ts test/support/stack.ts
  deploy-from-outside deploy/local/start.ts services/identity/src/clients/client.ts
  folders-in-floors services/runtime/src/postgres/settings.ts services/runtime/src/grpc/tls.ts
  folders-in-floors services/runtime/src/process/permits.ts services/runtime/src/audit/table.ts
  folders-in-floors services/identity/src/users/known-users.ts services/identity/src/clients/view.ts
  folders-in-floors services/identity/src/admin/context.ts services/identity/src/discovery/metadata.ts
  folders-in-floors services/gateway/src/pages/login.ts services/gateway/src/routes/login.ts
`);
/** Imports that every rule must let pass. */
const allowed = plantings(`
  allowed services/identity/src/clients/scope.ts services/runtime/src/process/errors.ts
  allowed services/identity/src/users/import.ts services/rules/src/email.ts
  allowed services/identity/src/users/user-table.ts ioredis
  allowed services/identity/src/token/c.ts services/identity/src/users/user-table.ts
  allowed services/identity/src/token/rpc.ts services/identity/src/token/c.ts
  allowed services/identity/src/token/c.test.ts test/support/stack.ts
`);
const layout = realpathSync(mkdtempSync(join(tmpdir(), 'import-rules-')));

function write(file: string, text: string): void {
  mkdirSync(dirname(join(layout, file)), { recursive: true });
  writeFileSync(join(layout, file), text);
}

function importing({ from, to }: Planting): string {
  const isFile = to.includes('.ts') && !to.startsWith('.');
  const target = isFile ? relative(dirname(from), to).replace(/^(?=[^.])/, './') : to;
  return `import '${target}';\n`;
}

beforeAll(() => {
  const imports = [...planted, ...allowed];
  for (const { to } of imports) {
    if (/^[a-z]+$/.test(to)) write(`node_modules/${to}/index.js`, '');
    else if (/^[a-z].*[.]ts$/.test(to)) write(to, '');
  }
  for (const entry of imports) write(entry.from, importing(entry));
  write('services/identity/src/token/b.ts', "import './a.ts';\n");
  write('tsconfig.json', '{}');
});
afterAll(() => rmSync(layout, { recursive: true }));

test('each rule reports what is planted against it, and nothing else', async () => {
  const { options, forbidden } = rules;
  const ruleSet = { forbidden };
  const folders = ['services', 'proto', 'deploy', 'test'];
  const { output } = await cruise(folders, { ...options, baseDir: layout, validate: true, ruleSet });
  const { violations } = (output as ICruiseResult).summary;
  const reported = violations.map(({ rule, from }) => `${rule.name}: ${from}`);
  expect(reported.sort()).toEqual(planted.map(({ rule, from }) => `${rule}: ${from}`).sort());
});

test('no rule is without a planted violation', () => {
  const names = new Set(rules.forbidden.map(({ name }) => name));
  expect([...names]).toEqual([...new Set(planted.map(({ rule }) => rule))]);
});
