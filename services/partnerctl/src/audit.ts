// `audit`: who changed what, and whether the log is complete.
import { appendFileSync, existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import { type AuditEntry, AuditService } from '@course-exchange/proto/operator/v1/audit';
import * as z from 'zod';
import { type CommandContext, newCommand, newGroup, withAction } from './cli/command.ts';
import { countOption, given, timeOption } from './cli/options.ts';
import { lineBlocks, readLine, requireNdjson } from './files/ndjson.ts';
import { usageError } from './output/errors.ts';
import { fieldsOf, fieldText, jsonText } from './output/result.ts';
import { fields, localTime } from './output/table.ts';
import { paint, sanitize } from './output/terminal.ts';

export function auditCommand() {
  const about = 'Who changed what, in a hash chain';
  return newGroup('audit', about, [listCommand(), verifyCommand()]);
}

const logOption = new Option(
  '--log <log>',
  'identity: changes of clients, users, consents and keys (default); designs: imported designs',
).choices(['identity', 'designs'] as const);

function auditOf({ services }: CommandContext, log: 'identity' | 'designs' = 'identity') {
  return log === 'identity' ? services.identity(AuditService) : services.catalog(AuditService);
}

type Audit = ReturnType<typeof auditOf>;

const defaultLimit = 100;

function listCommand() {
  const command = newCommand('list', {
    about: `List changes, oldest first: the newest ${defaultLimit}, or as many as --limit says`,
    examples: {
      'What happened to a client this week': 'partnerctl audit list --client acme --since 7d',
      'What was imported today': 'partnerctl audit list --log designs --since 24h',
      Watch: 'partnerctl audit list --follow',
      'Keep it outside the database': 'partnerctl audit list --append identity.ndjson',
    },
  })
    .addOption(timeOption('--since <time>', 'Entries since then: 2h, 7d or 2026-11-20T13:20:00Z'))
    .addOption(timeOption('--until <time>', 'Entries until then'))
    .option('--actor <actor>', 'By this actor: local:ann, cert:ci')
    .option('--client <client-id>', 'About this client')
    .option('--object <object>', 'About this object: user:<sub>, key:<kid>')
    .option('--action <action>', 'Of this kind: secret.add, or secret alone')
    .addOption(logOption)
    .addOption(countOption('--limit <number>', `How many; ${defaultLimit} by default`, 1_000_000))
    .option('--follow', 'Wait for more entries and print them; with --json one entry a line')
    .addOption(
      new Option(
        '--append <file>',
        'Append all entries that this file lacks, one JSON object a line, as `restore fence` reads them',
      ).conflicts(['since', 'until', 'actor', 'client', 'object', 'action', 'limit', 'follow']),
    );
  return withAction(command, async (context, options) => {
    const { since, until, actor = '', client: clientId = '', object = '', action = '' } = options;
    const now = context.now();
    const period = given({ since: since?.(now), until: until?.(now) });
    const filter = { ...period, actor, clientId, object, action };
    const audit = auditOf(context, options.log);
    if (options.append !== undefined) {
      const appended = await appendEntries(audit, resolve(context.directory, options.append));
      return { json: { appended }, text: `${appended} entries appended to ${sanitize(options.append)}.\n` };
    }
    const limit = options.limit ?? defaultLimit;
    const found = await newest(audit, filter, limit + 1);
    const [entries, more] = [found.slice(-limit), found.length > limit];
    if (more && !context.json) context.terminal.err.write('There are more: use --limit.\n');
    if (options.follow) return follow(context, audit, filter, entries);
    return { json: { entries, more }, text: entries.map(entryText).join('') || 'No entries.\n' };
  });
}

type Filter = NonNullable<Parameters<Audit['listAuditEntries']>[0]['filter']>;

const pageSize = 1000;

/** More than a page is read from the oldest entry on. */
async function newest(audit: Audit, filter: Filter, limit: number): Promise<readonly AuditEntry[]> {
  if (limit <= pageSize)
    return (await audit.listAuditEntries({ filter, pageSize: limit, newest: true })).entries;
  let entries: AuditEntry[] = [];
  for (let more = true; more; ) {
    const afterSequence = entries.at(-1)?.sequence ?? 0n;
    const page = await audit.listAuditEntries({ filter, pageSize, afterSequence });
    entries = [...entries, ...page.entries].slice(-limit);
    more = page.more && page.entries.length > 0;
  }
  return entries;
}

const chainStart: Pick<AuditEntry, 'sequence' | 'hash'> = { sequence: 0n, hash: '0'.repeat(64) };

const exportedEntry = z.object({ sequence: z.int().positive(), hash: z.string() });

/**
 * Returns the number appended. A log without the file's last entry was restored from a backup and is appended whole.
 * Throws if the file is of another log.
 */
export async function appendEntries(audit: Pick<Audit, 'listAuditEntries'>, path: string): Promise<number> {
  const { last, firsts, endsWhole } = await exportedUpTo(path);
  const entryAfter = async (afterSequence: bigint) =>
    (await audit.listAuditEntries({ afterSequence, pageSize: 1 })).entries[0];
  const known = await entryAfter(BigInt(last?.sequence ?? 1) - 1n);
  let end = last && known?.hash === last.hash ? known : chainStart;
  if (last && end === chainStart && !firsts.has((await entryAfter(0n))?.hash ?? ''))
    throw usageError(`${path} holds the entries of another log.`, 'Name another file, or check --log.');
  let appended = 0;
  for (let more = true; more; ) {
    const page = await audit.listAuditEntries({ pageSize, afterSequence: end.sequence });
    const lines = page.entries.map((entry) => {
      const line = `${jsonText({ previous: end.hash, ...fieldsOf(entry) })}\n`;
      end = entry;
      return line;
    });
    const start = appended === 0 && lines.length > 0 && !endsWhole ? '\n' : '';
    appendFileSync(path, start + lines.join(''), { mode: 0o600, flush: true });
    appended += page.entries.length;
    more = page.more && page.entries.length > 0;
  }
  return appended;
}

/** The last entry, the hash of each first one, and whether the last line is complete. */
async function exportedUpTo(path: string) {
  let last: z.output<typeof exportedEntry> | undefined;
  const firsts = new Set<string>();
  if (!existsSync(path)) return { last, firsts, endsWhole: true };
  await requireNdjson(path, true);
  for await (const { lines } of lineBlocks(path))
    for (const line of lines) {
      const read = readLine(exportedEntry, line);
      if (!('value' in read)) continue;
      last = read.value;
      if (last.sequence === 1) firsts.add(last.hash);
    }
  return { last, firsts, endsWhole: await endsWithLineBreak(path) };
}

async function endsWithLineBreak(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    return size === 0 || buffer.toString() === '\n';
  } finally {
    await file.close();
  }
}

async function follow(
  { terminal: { out }, json, signal }: CommandContext,
  audit: Audit,
  filter: Filter,
  entries: readonly AuditEntry[],
): Promise<undefined> {
  const print = (entry: AuditEntry): void => out.write(json ? `${jsonText(entry)}\n` : entryText(entry));
  for (const entry of entries) print(entry);
  const request = { filter, ...given({ afterSequence: entries.at(-1)?.sequence }) };
  const followed = audit.followAuditEntries(request, { signal, timeoutMs: 0 });
  for await (const { entry } of followed) if (entry) print(entry);
}

export function entryText({ sequence, at, actor, change, requestId }: AuditEntry): string {
  const known = actor.startsWith('cert:') ? actor : `${actor} (not authenticated)`;
  const columns = [localTime(at), known, change?.action ?? '', change?.object ?? ''].map(sanitize);
  const number = paint('dim', String(sequence).padStart(6));
  const head = `${number}  ${columns.join('  ')}  ${paint('dim', sanitize(requestId))}`;
  const below = (change?.fields ?? []).map((field) => `        ${fieldText(field)}`);
  return `${[head, ...below].join('\n')}\n`;
}

function verifyCommand() {
  const command = newCommand('verify', {
    about: 'Recompute the chain of hashes; exit code 1 when it is broken',
    details:
      'Keep the head that it prints outside the database and give it to the next run: this detects a truncated or rewritten log.',
    examples: {
      'Is the log complete?': 'partnerctl audit verify',
      'Does it still contain everything that it did last week?':
        'partnerctl audit verify --head "$(cat last-head)"',
    },
  })
    .option('--head <head>', 'The head of an earlier run: 1234:9f86d081…')
    .addOption(logOption);
  return withAction(command, async (context, { head, log }) => {
    const expected = given({ expectedHead: head === undefined ? undefined : parseHead(head) });
    const result = await auditOf(context, log).verifyAudit(expected, { timeoutMs: 600_000 });
    const { intact, entries, firstBreak } = result;
    const text = fields({
      Chain: intact ? 'intact' : 'BROKEN',
      'First break': firstBreak && `entry ${firstBreak.sequence}: ${firstBreak.reason}`,
      Entries: String(entries),
      Head: `${result.head?.sequence ?? 0}:${result.head?.hash ?? ''}`,
    });
    return { json: result, text, exit: intact ? 'done' : 'refused' };
  });
}

function parseHead(text: string) {
  const [, sequence, hash] = /^(\d{1,18}):([0-9a-f]{64})$/.exec(text.trim()) ?? [];
  if (sequence && hash) return { sequence: BigInt(sequence), hash };
  throw usageError(`--head: '${text}' is not a head.`, 'Give it as `audit verify` printed it.');
}
