// `designs volume`: how much partners can read (specification §8), computed exactly from the service's frequencies.
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type EventList,
  FeedService,
  type Frequency,
  type MeasureVolumeResponse,
} from '@course-exchange/proto/feed/v1';
import type { DataVolumeSchema } from '@course-exchange/proto/operator/v1/client';
import { type CommandContext, newCommand, withAction } from '../cli/command.ts';
import { consentPages } from '../consent.ts';
import { fields, table } from '../output/table.ts';

/** Designs of an Event that partners see (R23.1). */
const maxDesigns = 500;

export function volumeCommand() {
  const command = newCommand('volume', {
    about: 'Measure events for each user and designs for each event',
    details:
      'The operator confirms these figures before production approval (specification §8). Read only; it names no user. Users without an event do not count. p95: 95 of 100 users have at most that many events.',
    examples: {
      'All users': 'partnerctl designs volume',
      'Users who consented to a client': 'partnerctl designs volume --client acme',
    },
  }).option('--client <client-id>', 'Only users who consented to this client');
  return withAction(command, async (context, { client }) => {
    const volume = await measureVolume(context, client);
    return { json: volume, text: volumeText(volume) };
  });
}

/** For all users if no client is given. */
export async function measureVolume(context: CommandContext, clientId?: string): Promise<Volume> {
  const { services, signal } = context;
  const parts: MeasureVolumeResponse[] = [];
  for await (const owners of clientId === undefined ? [[]] : consentingUsers(context, clientId)) {
    const answers = services.catalog(FeedService).measureVolume({ owners }, { signal, timeoutMs: 0 });
    for await (const part of answers) parts.push(part);
  }
  return volumeOf(parts);
}

/** Each sub once, a page at a time; no page is empty. */
async function* consentingUsers(context: CommandContext, clientId: string): AsyncGenerator<string[]> {
  const known = new Set<string>();
  for await (const { consents } of consentPages(context, { clientId })) {
    const subs = new Set(consents.map(({ sub }) => sub)).difference(known);
    for (const sub of subs) known.add(sub);
    if (subs.size > 0) yield [...subs];
  }
}

export type Volume = ReturnType<typeof volumeOf>;

interface Part {
  readonly eventsPerOwner: Frequencies;
  readonly designsPerEvent: Frequencies;
  readonly longestList?: Pick<EventList, keyof typeof noList> | undefined;
}

type Frequencies = readonly Pick<Frequency, 'value' | 'count'>[];

const noList = { events: 0, bytes: 0, milliseconds: 0 };

export function volumeOf(parts: readonly Part[]) {
  const users = sumOf(parts.flatMap(({ eventsPerOwner }) => eventsPerOwner));
  const events = sumOf(parts.flatMap(({ designsPerEvent }) => designsPerEvent));
  const large = events.filter(({ value }) => value > maxDesigns);
  const lists = parts.flatMap(({ longestList }) => longestList ?? []);
  const longest = lists.reduce((most, list) => (list.events > most.events ? list : most), noList);
  return {
    users: total(users),
    events: total(events),
    designs: total(events, ({ value }) => value),
    eventsPerUser: distributionOf(users),
    designsPerEvent: distributionOf(events),
    eventsOver500: total(large),
    designsNeverSeen: total(large, ({ value }) => value - maxDesigns),
    longestList: { events: longest.events, bytes: longest.bytes, milliseconds: longest.milliseconds },
  } satisfies MessageInitShape<typeof DataVolumeSchema>;
}

/** Each value once, ascending. */
function sumOf(frequencies: Frequencies): Frequencies {
  const counts = new Map<number, number>();
  for (const { value, count } of frequencies) counts.set(value, (counts.get(value) ?? 0) + count);
  const sums = [...counts].map(([value, count]) => ({ value, count }));
  return sums.sort((one, other) => one.value - other.value);
}

function total(frequencies: Frequencies, weight: (one: Frequencies[number]) => number = () => 1): number {
  return frequencies.reduce((sum, one) => sum + one.count * weight(one), 0);
}

function distributionOf(frequencies: Frequencies) {
  return {
    median: quantile(frequencies, 50),
    p95: quantile(frequencies, 95),
    p99: quantile(frequencies, 99),
    largest: quantile(frequencies, 100),
  };
}

/** By the nearest rank; 0 if there are none. */
function quantile(ascending: Frequencies, percentage: number): number {
  const rank = Math.ceil((total(ascending) * percentage) / 100);
  let below = 0;
  for (const { value, count } of ascending) {
    below += count;
    if (below >= rank) return value;
  }
  return 0;
}

function volumeText(volume: Volume): string {
  const { users, events, designs, longestList: longest } = volume;
  const rows = [
    { of: 'Events of a user', ...volume.eventsPerUser },
    { of: 'Designs of an event', ...volume.designsPerEvent },
  ];
  const distributions = table(
    rows,
    {
      '': ({ of }) => of,
      MEDIAN: ({ median }) => median,
      P95: ({ p95 }) => p95,
      P99: ({ p99 }) => p99,
      LARGEST: ({ largest }) => largest,
    },
    '',
  );
  const facts = fields({
    'Users with an event': users,
    Events: events,
    Designs: designs,
    'Events with more than 500 designs': `${volume.eventsOver500} (${shareOf(volume.eventsOver500, events)})`,
    'Designs beyond the 500': `${volume.designsNeverSeen} (${shareOf(volume.designsNeverSeen, designs)})`,
    'Longest event list': `${longest.events} events, ${longest.bytes} bytes, ${longest.milliseconds} ms`,
  });
  return `${facts}\n${distributions}`;
}

function shareOf(part: number, whole: number): string {
  return `${((100 * part) / Math.max(whole, 1)).toFixed(2)} %`;
}
