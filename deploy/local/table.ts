// The short tables that a person reads: what runs where, who may log in, what to click.
import { dirname, join } from 'node:path';
import type { StatusReport } from './control.ts';
import type { StackFile } from './stack-file.ts';

/** A longer cell does not widen its column: it moves the rest of its own row. */
const widestColumn = 32;
/** A longer cell is cut; all of it stands in stack.json. */
const longestCell = 72;
/** A --seed FILE may bring hundreds. */
const mostAccounts = 30;

/** Columns as wide as their longest cell. */
function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.max(...rows.map((row) => Math.min(row[index]?.length ?? 0, widestColumn))),
  );
  return rows
    .map((row) => `  ${row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ')}`.trimEnd())
    .join('\n');
}

function shown(cell: string): string {
  const line = cell.replace(/\p{Cc}+/gu, ' ');
  return line.length > longestCell ? `${line.slice(0, longestCell - 1)}…` : line;
}

export function stackTable({ issuer, demoPartner, users, addresses, logs }: StackFile): string {
  const places = [
    ['Demo partner', demoPartner, 'open this in a browser, click "Connect", log in as below'],
    ['Gateway', addresses.gateway ?? '', issuer === addresses.gateway ? 'the issuer' : `behind ${issuer}`],
    ['Postgres', addresses.postgres ?? '', ''],
    ['Redis', addresses.redis ?? '', ''],
  ];
  const accounts = users
    .slice(0, mostAccounts)
    .map(({ email, password, about }) => [email, password, about].map(shown));
  const more = users.length - accounts.length;
  return [
    'The stack runs.',
    '',
    columns(places),
    '',
    'Demo accounts',
    columns(accounts),
    ...(more > 0 ? [`  … and ${more} more, see stack.json`] : []),
    '',
    `Logs: ${logs}`,
    `Partners with their secrets, and the stores' passwords: ${join(dirname(logs), 'stack.json')}`,
  ].join('\n');
}

export function isWhole({ phase, processes }: StatusReport): boolean {
  return phase === 'ready' && processes.every(({ state }) => state === 'answers');
}

export function statusTable(report: StatusReport): string {
  const { phase, issuer, processes } = report;
  const standing = phase === 'ready' && !isWhole(report) ? 'not whole' : phase;
  const rows = processes.map(({ name, pid, address, state }) => [name, `pid ${pid}`, address, state]);
  return [`${issuer} is ${standing}.`, columns(rows)].filter((part) => part !== '').join('\n');
}
