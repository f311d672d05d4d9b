// Loads many designs into a running local stack, through the triggers of table `designs`:
//   node test/bench/many-designs.ts DESIGNS OWNERS [STACK_FILE]
// One owner in a hundred has 20 times the mean, nine have 4 times it, the others half of it. A fifth of an owner's designs are
// in the first Event, the others by twos or eights in more.
import pg from 'pg';
import { readStackFile } from '../support/stack-file.ts';

const [designs = '', owners = '', stackFile = '.run/stack.json'] = process.argv.slice(2);
if (!(Number(designs) > 0 && Number(owners) > 0))
  throw new Error('Usage: node test/bench/many-designs.ts DESIGNS OWNERS [STACK_FILE]');
const client = new pg.Client(readStackFile(stackFile).postgres);
await client.connect();
await client.query('set search_path to catalog');
const [perOwner, last, atOnce] = [Number(designs) / Number(owners), Number(owners), 100];
for (let first = 1; first <= last; first += atOnce) {
  const end = Math.min(first + atOnce - 1, last);
  // One statement for these owners, so that each Event is counted once. The order is random: designs of one Event arrive over
  // months, and do not lie side by side.
  await client.query(
    `insert into designs (owner, id, revision, local_id, event_id, title, event_name, short_descr, author_name,
      event_date, updated_at)
    select substr(md5(i::text), 1, 22), 'd-' || (i::bigint * 100000 + d), 1, 'local-' || d, 'ev-' || i || '-' || e,
      'Grand Prix, round ' || d, 'Spring Tour ' || e, '1.45 m, 12 obstacles, course ' || d, 'A. Designer ' || i % 97,
      timestamptz '2026-01-01Z' + e % 300 * interval '1 day', timestamptz '2026-01-01Z' + random() * interval '300 days'
    from generate_series($1::integer, $2::integer) i
    cross join lateral (select ceil($3::float8 * case when i % 100 = 0 then 20 when i % 10 = 0 then 4 else 0.49 end)::integer)
      as sizes (size)
    cross join lateral generate_series(1, size) d
    cross join lateral (select case when d <= size / 5 then 0
      when i % 100 = 0 then 1 + d % (size * 2 / 5) else 1 + d % (size / 10) end) as events (e)
    order by random()`,
    [first, end, perOwner],
  );
  process.stdout.write(`\r${end} owners`);
}
await client.query('vacuum analyze');
await client.end();
console.log();
