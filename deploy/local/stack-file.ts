// `.run/stack.json`: what a person or a test needs to use the running stack, local demo credentials included; and the
// short tables of it that `start` and `status` print.
import { dirname, join } from 'node:path';
import type { StatusReport } from './control.ts';
import { healthAddresses, type StackPlan } from './plan.ts';
import { databaseUrl } from './postgres.ts';
import type { RunningComponent } from './processes.ts';
import { redisUrl } from './redis.ts';
import type { SeedContent } from './seed-file.ts';

export type StackFile = ReturnType<typeof describeStack>;

export function describeStack(
  plan: StackPlan,
  content: SeedContent,
  components: readonly Pick<RunningComponent, 'address' | 'running'>[],
) {
  const { ports, secrets, issuer, demoPartnerUrl, observeUrl, run } = plan;
  return {
    issuer,
    partners: content.partners,
    users: content.users,
    postgres: databaseUrl(plan, 'postgres'),
    redis: redisUrl(ports.redis, secrets.redis),
    processes: Object.fromEntries(components.map(({ running }) => [running.name, running.pid])),
    demoPartner: demoPartnerUrl,
    addresses: Object.fromEntries([
      ...components.map(({ running, address }) => [running.name, address]),
      ...Object.entries(healthAddresses(ports)).map(([name, address]) => [`${name} health`, address]),
      ...(observeUrl === undefined ? [] : [['observe', observeUrl]]),
    ]),
    operator: {
      identity: `unix:${join(run.sockets, 'identity-operator')}`,
      catalog: `unix:${join(run.sockets, 'design-catalog-feed')}`,
    },
    logs: run.logs,
    supervisor: process.pid,
  };
}

const maxAccounts = 30;

function columns(rows: readonly (readonly string[])[]): string {
  // A seed file may hold what a terminal obeys.
  const plain = rows.map((row) => row.map((cell) => cell.replace(/\p{Cc}/gu, '')));
  const widthOf = (at: number) => Math.max(...plain.map((row) => row[at]?.length ?? 0));
  const lines = plain.map((row) => row.map((cell, at) => cell.padEnd(widthOf(at))).join('  '));
  return lines.map((line) => `  ${line}`.trimEnd()).join('\n');
}

export function stackTable({ issuer, demoPartner, users, addresses, logs }: StackFile): string {
  const { gateway = '', observe, postgres = '', redis = '' } = addresses;
  const accounts = users.map(({ email, password, about }) => [email, password, about]);
  const more = users.length - maxAccounts;
  return [
    'The stack runs.',
    '',
    columns([
      ['Demo partner', demoPartner, 'open it in a browser, press "Connect", log in as below'],
      ['Gateway', gateway, issuer === gateway ? 'the issuer' : `behind ${issuer}`],
      ...(observe === undefined ? [] : [['Request viewer', observe, 'live traces, logs and metrics']]),
      ['Postgres', postgres, ''],
      ['Redis', redis, ''],
    ]),
    '',
    'Demo accounts',
    columns(accounts.slice(0, maxAccounts)),
    ...(more > 0 ? [`  … and ${more} more, see stack.json`] : []),
    '',
    `Logs: ${logs}`,
    `Partners with their secrets, and the stores' passwords: ${join(dirname(logs), 'stack.json')}`,
    `Try it: curl ${gateway}/.well-known/openid-configuration`,
  ].join('\n');
}

export function isHealthy({ phase, processes }: StatusReport): boolean {
  return phase === 'ready' && processes.every(({ state }) => state === 'answers');
}

export function statusTable(report: StatusReport): string {
  const { phase, issuer, processes } = report;
  const state = phase === 'ready' && !isHealthy(report) ? 'degraded' : phase;
  const rows = processes.map(({ name, pid, address, state }) => [name, `pid ${pid}`, address, state]);
  return `${issuer} is ${state}.\n${columns(rows)}`.trimEnd();
}
