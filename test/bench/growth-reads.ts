// The service's reads at one size of the catalog: how long they take, what they cost Postgres, and where the plan finds rows.
import { createHash } from 'node:crypto';
import { type Database, openDatabase, type Statement } from '@course-exchange/runtime/postgres/pool';
import { createLogger } from '@course-exchange/runtime/process/logger';
import type pg from 'pg';
import type { Owner, StoredEventId } from '../../services/design-catalog/src/events/event.ts';
import {
  designsOfEvent,
  eventsOfOwner,
  findEventWithDesigns,
  listEvents,
} from '../../services/design-catalog/src/events/event-table.ts';
import { firstEvent, ownerKinds } from './growth-data.ts';
import { percentile } from './load.ts';
import { cpuMicroseconds } from './processes.ts';

export interface Reading {
  /** As superuser: explains, and measures what the machine does to the shortest statement. */
  readonly client: pg.Client;
  /** As superuser, of the database. */
  readonly url: string;
}

/** One connection that reads as the service does, and the process of Postgres at its other end. */
interface Reader {
  readonly database: Database;
  readonly pid: number;
}

const samples = 300;
export const readColumns = [
  'designs',
  'read',
  'p50 / p99, ms',
  '`select 1`, ms',
  'Postgres, µs',
  'pages',
  'plan',
];

export const round = (value: number): string => Math.round(value).toLocaleString('en');

/** Rows of one step: a list of Events and one Event's designs, for each kind of owner. */
export async function measureReads(
  { client, url }: Reading,
  owners: number,
  designs: number,
): Promise<string[][]> {
  const database = openDatabase({
    url,
    applicationName: 'growth',
    poolSize: 1,
    statementTimeoutMs: 30_000,
    readOnly: true,
    schema: 'catalog',
    logger: createLogger('growth', 'error'),
  });
  const [backend] = await database.query<{ pid: number }>(backendPid, []);
  const reader = { database, pid: backend?.pid ?? 0 };
  const rows: string[][] = [];
  for (const kind of ownerKinds) {
    const someone = () => kind.someone(owners);
    rows.push(
      await measureRead(client, reader, designs, `events of ${kind.name}`, eventsOfOwner.text, () => {
        const owner = ownerOf(someone());
        return { values: [owner], read: async () => (await listEvents(database, owner)).events };
      }),
      await measureRead(
        client,
        reader,
        designs,
        `designs of ${kind.name}'s first event`,
        designsOfEvent.text,
        () => {
          const number = someone();
          const [owner, event] = [ownerOf(number), firstEvent(number) as StoredEventId];
          const read = async () => (await findEventWithDesigns(database, owner, event))?.designs ?? 0;
          return { values: [owner, event], read };
        },
      ),
    );
  }
  await database.close();
  return rows;
}

const backendPid: Statement = { name: 'backend', text: 'select pg_backend_pid() as pid' };

function ownerOf(number: number): Owner {
  return createHash('md5').update(`${number}`).digest('hex').slice(0, 22) as Owner;
}

/** Someone's read, another one each time. */
type Choose = () => { readonly values: readonly string[]; readonly read: () => Promise<number> };

async function measureRead(
  client: pg.Client,
  reader: Reader,
  designs: number,
  name: string,
  text: string,
  choose: Choose,
): Promise<string[]> {
  const [reads, noise]: [number[], number[]] = [[], []];
  let items = 0;
  const before = cpuMicroseconds([reader.pid]);
  for (let sample = 0; sample < samples; sample++) {
    const { read } = choose();
    noise.push(await timed(() => client.query('select 1')));
    reads.push(
      await timed(async () => {
        items = await read();
      }),
    );
  }
  const cpu = (cpuMicroseconds([reader.pid]) - before) / samples;
  const { pages, nodes } = await planOf(client, text, choose().values);
  const [took, beside] = [reads, noise].map((times) => {
    const sorted = times.toSorted((one, other) => one - other);
    return [0.5, 0.99].map((part) => `${percentile(sorted, part).toFixed(1)}`).join(' / ');
  });
  return [
    round(designs),
    `${name}: ${round(items)}`,
    took ?? '',
    beside ?? '',
    round(cpu),
    round(pages),
    nodes,
  ];
}

interface Plan {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Sort Space Type'?: string;
  readonly Plans?: readonly Plan[];
}

/** Pages that it touches, and where it gets its rows: indexes, other scans, and sorts that spill. */
async function planOf(client: pg.Client, text: string, values: readonly string[]) {
  const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, [...values]);
  const [{ Plan: top }] = rows[0]['QUERY PLAN'] as [{ Plan: Plan & Readonly<Record<string, number>> }];
  const nodes = new Set<string>();
  const visit = (plan: Plan): void => {
    if (plan['Index Name']) nodes.add(plan['Index Name']);
    else if (/Scan|Sort/.test(plan['Node Type'])) nodes.add(plan['Node Type']);
    if (plan['Sort Space Type'] === 'Disk') nodes.add('spilt');
    plan.Plans?.forEach(visit);
  };
  visit(top);
  const pages = (top['Shared Hit Blocks'] ?? 0) + (top['Shared Read Blocks'] ?? 0);
  return { pages, nodes: [...nodes].join(', ') };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}
