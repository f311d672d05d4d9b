// `audit list`: who changed what, as it is or as it comes.
import { type AuditEntry, AuditEntrySchema } from '@course-exchange/proto/operator/v1/audit';
import type { Call } from '../../frame/call.ts';
import { command } from '../../frame/command.ts';
import { count, moment, type OptionValues, text, toggle } from '../../frame/options.ts';
import { jsonText } from '../../frame/terminal.ts';
import { entryText } from '../../output/entries.ts';
import { plain } from '../../output/plain.ts';
import { auditOf, logOption } from './log.ts';

const filterOptions = {
  since: moment('Entries since then: 2h, 7d or 2026-11-20T13:20:00Z'),
  until: moment('Entries until then'),
  actor: text('<actor>', 'By this operator: local:ann, cert:ci'),
  client: text('<client-id>', 'About this client'),
  object: text('<object>', 'About this object: user:<sub>, key:<kid>'),
  action: text('<action>', 'Of this kind: secret.add, or secret alone'),
};

function filterOf(call: Call, options: OptionValues<typeof filterOptions>) {
  const time = (read: ((now: Date) => Date) | undefined) => {
    const ms = read?.(call.now()).getTime();
    return ms === undefined
      ? undefined
      : { seconds: BigInt(Math.floor(ms / 1000)), nanos: (ms % 1000) * 1e6 };
  };
  const since = time(options.since);
  const until = time(options.until);
  return {
    ...(since ? { since } : {}),
    ...(until ? { until } : {}),
    actor: options.actor ?? '',
    clientId: options.client ?? '',
    object: options.object ?? '',
    action: options.action ?? '',
  };
}

const defaultLimit = 100;

export const auditList = command({
  name: 'list',
  about: 'List changes, oldest first: the newest 100, or as many as --limit says',
  operands: {},
  options: {
    ...filterOptions,
    log: logOption,
    limit: count('<number>', `The newest so many; ${defaultLimit} where it is left out`, 1_000_000),
    follow: toggle('Stay, and print entries as they come; JSON comes one entry a line'),
  },
  examples: [
    { does: 'What happened to a client this week', line: 'partnerctl audit list --client acme --since 7d' },
    { does: 'What was imported today', line: 'partnerctl audit list --log designs --since 24h' },
    { does: 'Watch', line: 'partnerctl audit list --follow' },
  ],
  run: async (call, _, options) => {
    const filter = filterOf(call, options);
    const audit = auditOf(call, options.log);
    const limit = options.limit ?? defaultLimit;
    // One more than is shown tells whether there are more.
    const found = await newest(audit, filter, limit + 1);
    const [entries, more] = [found.slice(-limit), found.length > limit];
    const { terminal } = call;
    if (more && !call.json) terminal.err('There are more: use --limit.\n');
    if (!options.follow) {
      return {
        json: { entries: entries.map((entry) => plain(AuditEntrySchema, entry)), more },
        text: entries.map((entry) => entryText(entry, terminal.paint)).join('') || 'No entry matches.\n',
      };
    }
    const print = (entry: AuditEntry): void =>
      terminal.out(
        call.json ? `${jsonText(plain(AuditEntrySchema, entry))}\n` : entryText(entry, terminal.paint),
      );
    for (const entry of entries) print(entry);
    const after = entries.at(-1)?.sequence;
    const stream = audit.followAuditEntries(
      { filter, ...(after === undefined ? {} : { afterSequence: after }) },
      { signal: call.signal },
    );
    for await (const { entry } of stream) if (entry) print(entry);
    return undefined;
  },
});

const pageSize = 1000;

/** The newest `limit` entries, oldest first. More than a page is read from the oldest on. */
async function newest(
  audit: ReturnType<typeof auditOf>,
  filter: ReturnType<typeof filterOf>,
  limit: number,
): Promise<readonly AuditEntry[]> {
  if (limit <= pageSize)
    return (await audit.listAuditEntries({ filter, pageSize: limit, newest: true })).entries;
  let entries: AuditEntry[] = [];
  for (let more = true; more; ) {
    const page = await audit.listAuditEntries({
      filter,
      pageSize,
      afterSequence: entries.at(-1)?.sequence ?? 0n,
    });
    entries = [...entries, ...page.entries].slice(-limit);
    more = page.more && page.entries.length > 0;
  }
  return entries;
}
