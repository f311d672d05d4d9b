// The data volume as an operator confirms it, and looks at it again once users have connected, on a real stack.
import { expect, test } from 'vitest';
import { openCaller } from '../support/flow.ts';
import { runningStack } from '../support/stack-file.ts';
import { answerOf, startTool, toolEnvironment } from './tool.ts';

const redirectUris = ['https://volume.example/cb'] as const;
const scopes = ['openid', 'email', 'profile'];
const registration = `clientId: volume
name: Volume
technicalContact: { name: T, email: t@volume.example }
credentialContacts: [{ name: C, email: c@volume.example }]
environments: { test: { redirectUris: [${redirectUris}] } }
scopes: [${scopes}]
userJourney: j
requirements: { logout: l, unlinking: u, retention: r }
`;
let clientSecret: string;

test('an approval writes the confirmed figures and who confirmed them into the audit log', async () => {
  const words = ['client', 'register', '-', '--with-secret', '--json'];
  const { out } = await startTool(words, toolEnvironment(), registration).ended;
  clientSecret = (JSON.parse(out) as { secret: { secret: string } }).secret.secret;
  await answerOf('client', 'approve', 'volume');
  const { longestList: _, ...figures } = await answerOf('designs', 'volume');
  await answerOf('client', 'approve', 'volume', '--volume-confirmed', '--operator', 'ann');
  const { entries } = await answerOf('audit', 'list', '--client', 'volume', '--action', 'client.approval');
  expect(entries).toMatchObject([
    { change: { fields: [{ field: 'approval_state', after: 'test' }] } },
    {
      actor: 'local:ann',
      change: { fields: [{ after: 'approved' }, { field: 'confirmed_volume', after: figures }] },
    },
  ]);
});

test('of a client it is what the users who consented to it can read', async () => {
  await answerOf('client', 'activate', 'volume');
  expect(await answerOf('designs', 'volume', '--client', 'volume')).toMatchObject({ users: 0, events: 0 });
  const partner = { name: 'Volume', clientId: 'volume', clientSecret, redirectUris, scopes, active: true };
  const caller = await openCaller({ ...runningStack(), partners: [partner] });
  const list = await caller.events((await caller.newTokens()).access_token);
  const { items } = list.json() as { items: { designCount: number }[] };
  expect(await answerOf('designs', 'volume', '--client', 'volume')).toMatchObject({
    users: 1,
    events: items.length,
    designs: items.reduce((sum, { designCount }) => sum + designCount, 0),
    eventsPerUser: { median: items.length, largest: items.length },
    longestList: { events: items.length, bytes: Buffer.byteLength(list.text) },
  });
});
