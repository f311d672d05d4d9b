// partnerctl without files, as in a pod without a writable file system: what it reads comes by standard
// input, what must be kept leaves by standard output.
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { afterAll, expect, test } from 'vitest';
import type { Outcome } from '../support/process.ts';
import { answerOf, decrypted, startTool, tool, toolEnvironment } from './tool.ts';

const fed = (input: string, ...words: string[]): Promise<Outcome> =>
  startTool(words, toolEnvironment(), input).ended;
const registration = `clientId: streams
name: Streams
environments:
  test: { redirectUris: ["http://127.0.0.1:3998/callback"] }
scopes: [openid]
`;

afterAll(async () => {
  await tool('client', 'deactivate', 'streams', '--yes');
});

test('registers from standard input; standard output is the encrypted secret and nothing else', async () => {
  const identity = await generateIdentity();
  const recipient = await identityToRecipient(identity);
  const words = ['client', 'register', '-', '--with-secret', '--to-file', '-'];
  const plain = await fed(registration, ...words);
  expect(plain).toMatchObject({ exit: 2, out: '', err: expect.stringContaining('Add --encrypt-to.') });
  const { exit, out, err } = await fed(registration, ...words, '--encrypt-to', recipient);
  expect({ exit, err }).toMatchObject({ exit: 0, err: expect.stringContaining('client.register') });
  expect(out).toMatch(/^-----BEGIN AGE ENCRYPTED FILE-----\n[\s\S]*\n-----END AGE ENCRYPTED FILE-----\n$/);
  const secret = await decrypted(identity, out);
  expect(secret).toMatch(/^[\w-]{43}$/);
  expect(err).not.toContain(secret);
  const further = ['client', 'secret', 'add', 'streams', '--encrypt-to', '-', '--to-file', '-'];
  expect(await decrypted(identity, (await fed(`${recipient}\n`, ...further)).out)).not.toBe(secret);
});

test('an operator who only says a name is in the audit log as not authenticated', async () => {
  await tool('client', 'edit', 'streams', '--name', 'Streams of Ann', '--operator', 'ann@course.example');
  const { entries } = await answerOf('audit', 'list', '--client', 'streams');
  expect(entries).toContainEqual(expect.objectContaining({ actor: 'local:ann@course.example' }));
  const { out } = await tool('audit', 'list', '--client', 'streams');
  expect(out).toContain('local:ann@course.example (not authenticated)  client.edit');
});

test('plans and applies what export wrote', async () => {
  const { out } = await tool('client', 'export');
  expect(await fed(out, 'client', 'plan', '-', '--check')).toMatchObject({ exit: 0 });
  const renamed = out.replace('name: Streams of Ann', 'name: Streams again');
  expect(await fed(renamed, 'client', 'apply', '-', '--yes')).toMatchObject({ exit: 0 });
  expect((await answerOf('client', 'show', 'streams')).client).toMatchObject({
    registration: { name: 'Streams again' },
  });
});

const hash = '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy';
const user = { email: 'streams@example.com', emailVerified: true, name: 'Stream', passwordHash: hash };
const design = { owner: 'streams', id: 'streams-1', revision: 1 };
const event = { eventId: 'streams', title: 'One', eventName: 'Streams', updatedAt: '2026-11-20T08:00:00Z' };

test.each([
  [
    'user',
    [user, { email: 'none' }],
    '1 created, 0 updated, 0 unchanged',
    '0 created, 0 updated, 1 unchanged',
  ],
  [
    'designs',
    [{ op: 'upsert', ...design, ...event }, 'none', { op: 'delete', ...design, id: 'streams-0' }],
    '1 upserted, 1 deleted',
    '0 upserted, 0 deleted, 2 already known',
  ],
])(
  'imports %s; rejected lines go to standard error, and a second time changes nothing',
  async (noun, lines, once, twice) => {
    const input = lines.map((line) => JSON.stringify(line)).join('\n');
    const first = await fed(input, noun, 'import', '-');
    expect(first).toMatchObject({ exit: 1, out: expect.stringContaining(once) });
    expect(JSON.parse(first.err)).toEqual({ line: 2, reason: expect.any(String) });
    expect((await fed(input, noun, 'import', '-')).out).toContain(twice);
  },
);
