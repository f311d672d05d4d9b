// SIGKILL of identity in the middle of operators' work: each call happened whole, with its audit entry, or not at
// all, and the same call again ends in the same state.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DescService } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { AuditService } from '@course-exchange/proto/operator/v1/audit';
import { ApprovalState, ClientService } from '@course-exchange/proto/operator/v1/client';
import { KeyService, KeyState } from '@course-exchange/proto/operator/v1/key';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callService } from '../support/grpc-client.ts';
import { type System, startSystem } from '../support/system.ts';

let system: System;

beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system?.stop());

/** A connection of its own each time: the one before may have died with the process. */
function operator<S extends DescService>(service: S): Client<S> {
  return callService(service, `${system.stack.operator?.identity}`);
}

/** Repeats `work` as an operator would, until it is answered. */
async function untilAnswered<T>(work: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(100)) {
    const answer = await work().then(
      (value) => ({ value }),
      () => undefined,
    );
    if (answer) return answer.value;
  }
  throw new Error('Not answered within a minute.');
}

/** Kills and restarts identity while `work` runs, again and again. */
async function underKills<T>(work: () => Promise<T>): Promise<T> {
  let over = false;
  const killing = (async () => {
    for (let kills = 0; kills < 3 && !over; kills += 1) {
      await sleep(150 + kills * 130);
      await system.kill('identity');
      await system.start('identity');
    }
  })();
  const result = await work().finally(() => {
    over = true;
  });
  await killing;
  return result;
}

const verify = () => untilAnswered(() => operator(AuditService).verifyAudit({}));

async function entriesOf(action: string): Promise<string[]> {
  const objects: string[] = [];
  for (let after = 0n; ; ) {
    const page = { filter: { action }, afterSequence: after, pageSize: 1_000 };
    const { entries, more } = await operator(AuditService).listAuditEntries(page);
    objects.push(...entries.map(({ change }) => change?.object ?? ''));
    after = entries.at(-1)?.sequence ?? after;
    if (!more) return objects;
  }
}

test('an import goes on where it was interrupted: every user once, one entry for each', async () => {
  const batches = Array.from({ length: 12 }, (_, batch) =>
    Array.from({ length: 250 }, (_, index) => ({
      line: BigInt(batch * 250 + index + 1),
      sub: `killed-${batch}-${index}`,
      email: `killed-${batch}-${index}@import.example`,
      passwordHash: `$2b$10$${'e'.repeat(53)}`,
    })),
  );
  const answers = await underKills(async () => {
    const all = [];
    for (const users of batches)
      all.push(await untilAnswered(() => operator(UserService).importUsers({ users })));
    return all;
  });
  expect(answers.flatMap(({ rejected }) => rejected)).toEqual([]);
  for (const { created, unchanged } of answers) expect(created + unchanged).toBe(250);
  const entries = await entriesOf('user.import');
  expect(entries).toHaveLength(3_000);
  expect(new Set(entries).size).toBe(3_000);
  expect(await verify()).toMatchObject({ intact: true });
});

test('a set of clients is applied whole or not at all', async () => {
  const clients = Array.from({ length: 60 }, (_, index) => ({
    registration: {
      clientId: `applied-${index}`,
      name: `Applied ${index}`,
      technicalContact: { email: 't@partner.example' },
      environments: [{ redirectUris: [`https://applied-${index}.example/callback`] }],
      scopes: ['openid'],
    },
    approvalState: ApprovalState.TEST,
    active: true,
  }));
  await underKills(() =>
    untilAnswered(async () => {
      const there = (await operator(ClientService).listClients({})).clients.filter(({ registration }) =>
        registration?.clientId.startsWith('applied-'),
      );
      expect([0, 60]).toContain(there.length);
      return operator(ClientService).applyClients({ clients });
    }),
  );
  const again = await operator(ClientService).applyClients({ clients });
  expect(again.clients.flatMap(({ changes }) => changes)).toEqual([]);
  expect(await entriesOf('client.register')).toHaveLength(60);
  expect(await verify()).toMatchObject({ intact: true });
});

test('a rotation has one staged key for each algorithm, however often it is begun', async () => {
  await underKills(async () => {
    for (let times = 0; times < 20; times += 1)
      await untilAnswered(() => operator(KeyService).rotateKeys({}));
  });
  const { keys } = await untilAnswered(() => operator(KeyService).listKeys({}));
  const counted = (state: KeyState) => keys.filter((key) => key.state === state).length;
  expect([counted(KeyState.STAGED), counted(KeyState.ACTIVE)]).toEqual([2, 2]);
  expect(await entriesOf('key.stage')).toHaveLength(2);
  expect(await verify()).toMatchObject({ intact: true });
});
