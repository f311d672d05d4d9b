// The short tables that a person reads: what runs where, who may log in, what to click.
import { dirname, join } from 'node:path';
import type { StatusReport } from './control.ts';
import type { StackFile } from './stack-file.ts';

/** Columns as wide as their longest cell. */
function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows
    .map((row) => `  ${row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ')}`.trimEnd())
    .join('\n');
}

export function stackTable({ issuer, demoPartner, users, addresses, logs }: StackFile): string {
  const places = [
    ['Demo partner', demoPartner, 'open this in a browser, click "Connect", log in as below'],
    ['Gateway', addresses.gateway ?? '', issuer === addresses.gateway ? 'the issuer' : `behind ${issuer}`],
    ['Postgres', addresses.postgres ?? '', ''],
    ['Redis', addresses.redis ?? '', ''],
  ];
  const accounts = users.map(({ email, password, about }) => [email, password, about]);
  return [
    'The stack runs.',
    '',
    columns(places),
    '',
    'Demo accounts',
    columns(accounts),
    '',
    `Logs: ${logs}`,
    `Partners with their secrets, and the stores' passwords: ${join(dirname(logs), 'stack.json')}`,
  ].join('\n');
}

export function statusTable({ phase, issuer, processes }: StatusReport): string {
  const rows = processes.map(({ name, pid, address, state }) => [name, `pid ${pid}`, address, state]);
  return [`${issuer} is ${phase}.`, columns(rows)].filter((part) => part !== '').join('\n');
}
