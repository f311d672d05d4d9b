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

const planted: readonly Planting[] = [
  { rule: 'no-circle', from: 'services/identity/src/token/a.ts', to: 'services/identity/src/token/b.ts' },
  { rule: 'resolvable', from: 'services/identity/src/main.ts', to: './nowhere.ts' },
  {
    rule: 'services-apart',
    from: 'services/gateway/src/app.ts',
    to: 'services/identity/src/clients/scope.ts',
  },
  {
    rule: 'runtime-below-everything',
    from: 'services/runtime/src/process/settings.ts',
    to: 'proto/generated/token.ts',
  },
  {
    rule: 'runtime-parts',
    from: 'services/runtime/src/postgres/settings.ts',
    to: 'services/runtime/src/grpc/tls.ts',
  },
  {
    rule: 'rules-below-everything',
    from: 'services/rules/src/email.ts',
    to: 'services/runtime/src/process/errors.ts',
  },
  {
    rule: 'proto-below-everything',
    from: 'proto/generate.ts',
    to: 'services/runtime/src/process/errors.ts',
  },
  { rule: 'drivers-in-stores', from: 'services/identity/src/token/f.ts', to: 'ioredis' },
  { rule: 'environment-on-top', from: 'services/identity/src/keys/ring.ts', to: 'node:fs' },
  {
    rule: 'rules-below-stores',
    from: 'services/identity/src/users/user.ts',
    to: 'services/identity/src/users/user-table.ts',
  },
  {
    rule: 'stores-below-use-cases',
    from: 'services/identity/src/token/grant-store.ts',
    to: 'services/identity/src/token/endpoint.ts',
  },
  {
    rule: 'wire-in-rpc',
    from: 'services/identity/src/token/e.ts',
    to: 'proto/generated/token.ts',
  },
  {
    rule: 'rpc-on-top',
    from: 'services/identity/src/token/d.ts',
    to: 'services/identity/src/token/rpc.ts',
  },
  {
    rule: 'rpc-translates-only',
    from: 'services/identity/src/users/rpc.ts',
    to: 'services/identity/src/users/user-table.ts',
  },
  { rule: 'main-on-top', from: 'services/identity/src/other.ts', to: 'services/identity/src/main.ts' },
  {
    rule: 'configuration-on-top',
    from: 'services/identity/src/users/configured.ts',
    to: 'services/identity/src/config.ts',
  },
  { rule: 'gateway-thin', from: 'services/gateway/src/routes/resources.ts', to: 'jose' },
  { rule: 'catalog-without-redis', from: 'services/design-catalog/src/events/event-table.ts', to: 'ioredis' },
  { rule: 'demo-partner-outside', from: 'services/demo-partner/src/app.ts', to: 'proto/generated/token.ts' },
  {
    rule: 'demo-partner-outside',
    from: 'services/demo-partner/src/stop.ts',
    to: 'services/runtime/src/failure.ts',
  },
  {
    rule: 'integrators-outside',
    from: 'deploy/testcontainers/src/system.ts',
    to: 'deploy/local/run-directory.ts',
  },
  { rule: 'production-without-tests', from: 'services/gateway/src/main.ts', to: 'test/support/stack.ts' },
  {
    rule: 'deploy-from-outside',
    from: 'deploy/local/start.ts',
    to: 'services/identity/src/clients/client.ts',
  },
];
/** Imports that every rule must let pass. */
const allowed: readonly Omit<Planting, 'rule'>[] = [
  { from: 'services/identity/src/clients/scope.ts', to: 'services/runtime/src/process/errors.ts' },
  { from: 'services/identity/src/users/import.ts', to: 'services/rules/src/email.ts' },
  { from: 'services/identity/src/users/user-table.ts', to: 'ioredis' },
  { from: 'services/identity/src/token/c.ts', to: 'services/identity/src/users/user-table.ts' },
  { from: 'services/identity/src/token/rpc.ts', to: 'services/identity/src/token/c.ts' },
  { from: 'services/identity/src/token/c.test.ts', to: 'test/support/stack.ts' },
];
const layout = realpathSync(mkdtempSync(join(tmpdir(), 'import-rules-')));

function write(file: string, text: string): void {
  mkdirSync(dirname(join(layout, file)), { recursive: true });
  writeFileSync(join(layout, file), text);
}

function importing({ from, to }: Omit<Planting, 'rule'>): string {
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

async function reported(): Promise<string[]> {
  const options = rules.options;
  const { output } = await cruise(['services', 'proto', 'deploy', 'test'], {
    ...options,
    baseDir: layout,
    validate: true,
    ruleSet: { forbidden: rules.forbidden },
  });
  return (output as ICruiseResult).summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`).sort();
}

test('each rule reports what is planted against it, and nothing else', async () => {
  expect(await reported()).toEqual(planted.map(({ rule, from }) => `${rule}: ${from}`).sort());
});

test('no rule is without a planted violation', () => {
  const names = rules.forbidden.map(({ name }) => name);
  expect(names).toEqual([...new Set(planted.map(({ rule }) => rule))]);
});
