// What programs rely on: the shape of each JSON answer, exit codes, and that no answer and no log holds a secret.
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { entryHash } from '@course-exchange/runtime/audit/table';
import { afterAll, expect, test } from 'vitest';
import { runningStack, stackFile } from '../support/stack-file.ts';
import { schemas } from './answer-schemas.ts';
import { tool } from './tool.ts';

const work = mkdtempSync(join(tmpdir(), 'partnerctl-answers-'));
const canary = 'canary-7f3a-canary';
/** A person's name: operators see it in the registration; audit log and service logs never show it. */
const contactCanary = 'canary-c0de-contact';
const printed: string[] = [];

afterAll(() => rmSync(work, { recursive: true }));

/** Runs a command line of words without spaces under --json. */
async function answer(schema: keyof typeof schemas, line: string): Promise<Record<string, unknown>> {
  const { exit, out, err } = await tool(...line.split(' '), '--json');
  printed.push(out, err);
  expect({ exit, err }, line).toEqual({ exit: 0, err: '' });
  const json = JSON.parse(out) as Record<string, unknown>;
  expect(schemas[schema].safeParse(json).error, line).toBeUndefined();
  return json;
}

const registration = '--client-id answers --name Answers --redirect-uri https://a.example/cb --scope openid';

test('every answer keeps to its schema', async () => {
  const sub = runningStack().users[0]?.sub ?? '';
  const contact = `--technical-contact ${contactCanary}<${contactCanary}@a.example>`;
  const file = (name: string) => join(work, name);
  await answer('registered', `client register ${registration} ${contact} --dry-run`);
  const { out } = await tool('client', 'register', ...`${registration} ${contact} --dry-run`.split(' '));
  expect(out).toContain('Would create client:answers');
  expect(out).toContain(`technical   ${contactCanary} <${contactCanary}@a.example>`);
  const withSecret = `--with-secret --to-file ${file('one')}`;
  const made = await answer('registered', `client register ${registration} ${withSecret}`);
  expect(made.secret).toMatchObject({ delivery: 'file', secret: null });
  await answer('registered', `client edit answers ${contact}`);
  await answer('result', 'client approve answers --to draft');
  await answer('result', 'client deactivate answers --yes');
  await answer('clients', 'client list');
  expect(await answer('conduct', 'client conduct answers')).not.toHaveProperty('duties.0.requestId');
  await answer('client', 'client show answers');
  await answer('result', `client secret add answers --to-file ${file('two')}`);
  await answer('secrets', 'client secret list answers');
  await answer('export', `client export --out ${file('clients.yaml')}`);
  await answer('plan', `client plan ${file('clients.yaml')}`);
  await answer('plan', `client apply ${file('clients.yaml')} --yes`);
  const shown = await answer('user', `user show ${sub}`);
  const { userHash } = shown.user as { readonly userHash: string };
  expect(await answer('user', `user show --hash ${userHash}`)).toEqual(shown);
  await answer('result', `user disable ${sub} --dry-run`);
  await answer('result', `user unthrottle ${sub}`);
  expect(await answer('refolded', 'user refold')).toMatchObject({ shared: [] });
  const { accessTokensEndAt } = await answer('result', `user sign-out ${sub} --yes`);
  expect(Date.parse(`${accessTokensEndAt}`) - Date.now()).toBeGreaterThan(600_000);
  await answer('consents', 'consent list --client answers');
  await answer('keys', 'key list --all');
  await answer('result', 'key rotate --step --dry-run');
  await answer('result', 'key reencrypt');
  expect(await answer('audit', 'audit list --limit 2')).toMatchObject({ more: true });
  expect(await answer('audit', 'audit list --limit 1000')).toMatchObject({ more: false });
  await answer('verified', 'audit verify');
  await answer('refusals', 'refusals list --since 7d');
  await answer('recount', 'designs verify');
  await answer('volume', 'designs volume');
  await answer('fence', 'restore fence --restored postgres --accept-unknown --dry-run');
  await answer('status', 'status');
});

test('a fence reads a log that is larger than a message', async () => {
  const clientId = runningStack().partners.find(({ active }) => active)?.clientId;
  const { head } = await answer('verified', 'audit verify');
  const { sequence, hash } = head as { sequence: number; hash: string };
  const hashAt = (at: number) => (at === sequence ? hash : at.toString(16).padStart(64, '0'));
  const line = (at: number, endings?: string) => {
    const chained = { sequence: at, hash: hashAt(at), previous: hashAt(at - 1), endings };
    const time = new Date(Date.now() + 60_000).toISOString();
    return JSON.stringify({ time, service: 'identity', event: 'operator.change', ...chained });
  };
  const lines = Array.from({ length: 40_000 }, (_, index) => line(sequence + index));
  const last = line(sequence + lines.length, `client.deactivate client:${clientId}`);
  const log = join(work, 'identity.log');
  writeFileSync(log, `not JSON\n${lines.join('\n')}\n${last}\n`);
  expect(statSync(log).size).toBeGreaterThan(8 << 20);
  const fence = `restore fence --restored postgres --audit-log ${log} --dry-run`;
  expect(await answer('fence', fence)).toMatchObject({
    endedAgain: [`client.deactivate client:${clientId}`],
    continuation: { provenEntries: 0, unprovenLines: lines.length, unprovenSequences: expect.any(Array) },
  });
  const named = Array.from({ length: 20 }, (_, nth) => sequence + 1 + nth).join(', ');
  expect((await tool(...fence.split(' '))).out).toContain(
    `Unproven, known from log lines alone: ${lines.length} (${named}, …).`,
  );
});

test('a file of audit entries tells a fence what ended after a restore', async () => {
  const file = join(work, 'audit.ndjson');
  const append = () => answer('appended', `audit list --append ${file}`);
  await append();
  const { head } = await answer('verified', 'audit verify');
  const { sequence, hash } = head as { sequence: number; hash: string };
  // Entries that the restored log does not have.
  const { sub = '' } = runningStack().users[0] ?? {};
  const at = new Date().toISOString();
  const origin = { actor: 'local:ann', requestId: 'request', at };
  let previous = hash;
  for (const [nth, user] of [sub, 'not-in-the-backup'].entries()) {
    const own = { sequence: sequence + nth + 1, previous };
    const fields = [{ field: 'disabled_at', after: `"${at}"` }];
    const change = { action: 'user.disable', object: `user:${user}`, fields };
    previous = entryHash(previous, own.sequence, origin, change);
    const shown = { ...change, fields: [{ field: 'disabled_at', before: null, after: at }] };
    appendFileSync(
      file,
      `${JSON.stringify({ ...own, ...origin, clientId: '', change: shown, hash: previous })}\n`,
    );
  }
  expect(await append()).toEqual({ appended: sequence });
  const fence = `restore fence --restored postgres --audit-log ${file} --dry-run`;
  expect(await answer('fence', fence)).toMatchObject({
    endedAgain: [`user.disable user:${sub}`],
    unknownUsers: [expect.any(String)],
    continuation: {
      restoredSequence: sequence,
      namedSequence: sequence,
      lastSequence: sequence + 2,
      lastAt: at,
      provenEntries: 2,
      unprovenLines: 0,
    },
  });
  const { out } = await tool(...fence.split(' '));
  expect(out).toContain(
    `entry ${sequence}; it lacks entries ${sequence + 1} to ${sequence + 2} of the lines, the last of`,
  );
  expect(out).toContain('Of these lines, 2 have the hash of their content: all of them.');
  expect(out).toContain('Disabled users that this database lacks');
  // Any entry that was changed, also one that the restored log has.
  const whole = readFileSync(file, 'utf8');
  const lines = whole.trimEnd().split('\n').length;
  for (const [from, to, said] of [
    ['"action":"user.disable"', '"action":"user.edit"', `Entry ${sequence + 1} does not have the hash`],
    [
      `"sequence":${sequence + 2}`,
      `"sequence":${sequence + 3}`,
      `Entry ${sequence + 3} does not have the hash`,
    ],
    [/"requestId":"[^"]*"/, '"requestId":"other-one"', 'Entry 1 does not have the hash'],
    ['"actor":"local:ann",', '', `Line ${sequence + 1} is not an entry`],
    [`"at":"${at}"`, `"at":"${at.replace('Z', '001Z')}"`, `Line ${sequence + 1} is not an entry`],
    ['"previous"', '"Previous"', 'Line 1 is not an entry'],
    ['"change"', '"chnge"', 'Line 1 is not an entry'],
    // The end is cut off, at the end and within a line.
    [/.{120}\n$/, '\n', `Line ${lines} is not an entry`],
    [/\{.*\n$/, '{"seq', `Line ${lines} is not an entry`],
    [/.{9}\n(?=.*\n$)/, '', `Line ${lines - 1} is not an entry`],
  ] as const) {
    writeFileSync(file, whole.replace(from, to));
    expect(await tool(...fence.split(' '))).toMatchObject({ exit: 2, err: expect.stringContaining(said) });
  }
});

test.each([
  [5, 'client show nobody'],
  [4, `client register ${registration}`],
  [2, 'client register --client-id b --name B --redirect-uri https://a.example/cb?x=1#y --scope openid'],
  [3, 'status --identity 127.0.0.1:1'],
])('exit code %i of `%s`, and an error that keeps to its schema', async (code, line) => {
  const { exit, out, err } = await tool(...line.split(' '), '--json');
  printed.push(out, err);
  expect({ exit, out }).toEqual({ exit: code, out: '' });
  expect(schemas.error.safeParse(JSON.parse(err)).error).toBeUndefined();
});

test('a rejected record, a secret in a file and a contact show in no answer, no audit entry and no log', async () => {
  writeFileSync(join(work, 'users.ndjson'), `{"email":"x@y.example","passwordHash":"${canary}"}\n`);
  const rejected = await tool('user', 'import', join(work, 'users.ndjson'), '--json');
  expect(rejected.exit).toBe(1);
  const audit = await tool('audit', 'list', '--limit', '1000', '--json');
  const logs = join(dirname(stackFile()), 'logs');
  const logged = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'));
  const secrets = ['one', 'two'].map((name) => readFileSync(join(work, name), 'utf8').trim());
  const all = [...printed, rejected.out, rejected.err, audit.out, ...logged].join('\n');
  const kept = [audit.out, ...logged].join('\n');
  expect(kept.includes(contactCanary)).toBe(false);
  for (const secret of [...secrets, canary]) expect(all.includes(secret), secret.slice(0, 6)).toBe(false);
});
