// A primary that dies and a replica that takes its name: services follow by themselves, and nothing that was acknowledged
// is lost, least of all a withdrawal (R13).
import { setTimeout as sleep } from 'node:timers/promises';
import { demoPartners, demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { beforeAll, expect, test } from 'vitest';
import { discover } from '../support/flow.ts';
import type { Partner } from '../support/stack-file.ts';
import { type Chain, type Chains, openChains } from './outage/chains.ts';
import { expectGraceful, outage } from './outage/course.ts';
import { type OutageLoad, startOutageLoad } from './outage/load.ts';
import { type PostgresPair, startPostgresPair } from './postgres.ts';
import { type Stores, type System, startStores, startSystem } from './system.ts';

let pair: PostgresPair;
let stores: Stores;
let system: System;
let load: OutageLoad;
/** Of the person who changes her mind. */
let others: Chains;
let withdrawn: Chain;

beforeAll(async () => {
  stores = await startStores({
    postgres: async (network) => {
      pair = await startPostgresPair(network);
      return pair;
    },
  });
  system = await startSystem(stores);
  others = openChains(await discover(system.issuer), partner, demoUsers.shares);
  withdrawn = (await others.logIn()).chain as Chain;
  expect(others.note(withdrawn, await others.refresh(withdrawn))).toBe(true);
  load = await startOutageLoad(system.issuer);
  await sleep(1_000);
});

const partner = demoPartners('http://127.0.0.1:9000')[1] as Partner;

/** Everything that an operator would miss; a row for each. */
const keptRows = `select 'client ' || c::text as row from identity.clients c
  union all select 'consent ' || c::text from identity.consents c
  union all select 'key ' || kid || state from identity.signing_keys
  union all select 'audit ' || a::text from identity.audit_log a`;
const kept = async () => (await stores.query(keptRows)).map(({ row }) => row);

const partnerctl = (...words: string[]) =>
  system.containers.identity.exec(['/usr/local/bin/node', '/app/partnerctl.js', ...words]);

test('the promoted replica is followed without a restart, and has every acknowledged row [R13, R14.1, R14.2, R14.3]', async () => {
  let before: readonly unknown[] = [];
  const course = await outage(load, {
    cut: async () => {
      before = await kept();
      const said = await partnerctl(
        'consent',
        'withdraw',
        '--user',
        demoUsers.shares.email,
        '--client',
        partner.clientId,
        '--yes',
      );
      expect(said).toMatchObject({ exitCode: 0 });
      await pair.killPrimary();
    },
    restore: () => pair.promoteReplica(),
  });
  const failed = course.all.filter(({ status }) => status !== 200).length;
  console.log(
    `figure: Postgres promoted: ${failed} of ${course.all.length} calls answered 503, all well ${course.recoveryMs} ms after the replica had the name`,
  );
  expectGraceful(course, ['refresh', 'login', 'user-info', 'events'], true);
  expect(course.recoveryMs).toBeLessThan(5_000);
  const after = await kept();
  const changed = before.filter((row) => !after.includes(row));
  // The one that was withdrawn since.
  expect(changed.map((row) => String(row).split(' ')[0])).toEqual(['consent']);
});

test('a consent withdrawn just before stays withdrawn, and the audit log is whole [R13]', async () => {
  const answer = await others.refresh(withdrawn);
  expect([answer.status, answer.text]).toEqual([400, '{"error":"invalid_grant"}']);
  expect(await partnerctl('audit', 'verify')).toMatchObject({ exitCode: 0 });
});

test('no token is accepted twice and none is lost [R11.2, R11.3]', async () => {
  const verdict = await load.stop();
  console.log(`figure: promotion: ${JSON.stringify(verdict)}`);
  expect(verdict).toMatchObject({ acceptedTwice: 0, lostSuccessors: 0, lostAnswers: 0 });
});
