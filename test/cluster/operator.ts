// What an operator does by kubectl exec, as docs/operator.md tells it for a cluster: brings a partner, users and designs into
// an environment that has none, and on-boards a further partner, from the registration to the first events, a second secret
// without a failed call, and a consent withdrawn. The transcript is printed.
import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { demoDesigns } from '@course-exchange/local-stack/demo-designs';
import { describe, expect, test } from 'vitest';
import { discover, token } from '../support/flow.ts';
import { connect, listEvents, refresh } from '../support/load/families.ts';
import type { DemoUser, Partner } from '../support/stack-file.ts';
import { openUserAgent } from '../support/user-agent.ts';
import { contractSecret, type Environment } from './environment.ts';
import { loadUsers } from './load.ts';
import { release } from './settings.ts';

const scopes = ['openid', 'email', 'profile'];

function registrationOf(clientId: string, name: string, redirectUri: string): string {
  return `clientId: ${clientId}
name: ${name}
technicalContact: { name: Ann Example, email: ann@acme.example, phone: "+49 30 1234" }
credentialContacts:
  - { name: Bo Example, email: bo@acme.example }
environments:
  test: { redirectUris: ["http://127.0.0.1:3999/callback"] }
  production: { redirectUris: ["${redirectUri}"] }
scopes: [${scopes.join(', ')}]
userJourney: Riders connect once and see the courses of their events.
requirements:
  logout: The partner ends its own session only.
  unlinking: A button in the account's settings deletes our tokens.
  retention: Summaries are kept for 30 days.
`;
}

/** Brings into production what a test environment finds as demo data. Returns it with its partner. */
export async function populate(environment: Environment): Promise<Environment> {
  const partner = await register(environment, 'ringside-results', 'Ringside Results');
  await partnerctl(environment, ['user', 'import', '-'], loadUsers.map(userLine).join(''));
  await partnerctl(environment, ['designs', 'import', '-'], designLines(), 'design-catalog');
  const { issuer } = environment;
  await environment.kube.apply(contractSecret({ issuer, partners: [partner], users: loadUsers }));
  return { ...environment, partner };
}

/** Its hash is cheap to make here; the first login replaces it. */
function userLine({ sub, email, name, password }: DemoUser): string {
  const [salt, iterations] = [randomBytes(16), 10_000];
  const [salted, hash] = [salt, pbkdf2Sync(password, salt, iterations, 32, 'sha256')].map((bytes) =>
    bytes.toString('base64').replace(/=+$/, ''),
  );
  const passwordHash = `$pbkdf2-sha256$i=${iterations}$${salted}$${hash}`;
  return `${JSON.stringify({ sub, email, emailVerified: true, name, passwordHash })}\n`;
}

function designLines(): string {
  const owners = new Set<string>(loadUsers.map(({ sub }) => sub));
  const designs = [...demoDesigns()].filter(
    ({ owner, deletedAt }) => owners.has(owner) && deletedAt === null,
  );
  return designs
    .map(({ deletedAt: _, ...design }) => `${JSON.stringify({ op: 'upsert', revision: 1, ...design })}\n`)
    .join('');
}

/** From draft to active: two approvals, as production asks for. */
async function register(environment: Environment, clientId: string, name: string): Promise<Partner> {
  const redirectUri = `https://${clientId}.example/callback`;
  const made = await partnerctl(
    environment,
    ['client', 'register', '-', '--with-secret', '--json'],
    registrationOf(clientId, name, redirectUri),
  );
  for (const agreement of ['Test agreement', 'Agreement'])
    await partnerctl(environment, ['client', 'approve', clientId, '--note', agreement]);
  await partnerctl(environment, ['client', 'activate', clientId]);
  return { name, clientId, clientSecret: secretOf(made), redirectUris: [redirectUri], scopes, active: true };
}

export function onBoarding(environment: () => Environment): void {
  describe('an operator by kubectl exec', () => {
    test('registers a partner, rotates its secret, and withdraws a consent', async () => {
      const { issuer } = environment();
      const partner = await register(environment(), 'acme', 'Acme Courses');
      const { clientId } = partner;
      const at = { discovery: await discover(issuer), partner };
      const family = await connect(at, openUserAgent(issuer), demoUsers.typical);
      await listEvents(at, family);

      const added = await partnerctl(environment(), ['client', 'secret', 'add', clientId, '--json']);
      const renewed = { ...at, partner: { ...partner, clientSecret: secretOf(added) } };
      for (const either of [at, renewed, at, renewed]) await refresh(either, family);
      await partnerctl(environment(), ['client', 'secret', 'list', clientId]);

      const whose = ['--user', demoUsers.typical.email, '--client', clientId];
      await partnerctl(environment(), ['consent', 'withdraw', ...whose, '--yes']);
      const form = { grant_type: 'refresh_token', refresh_token: family.refresh };
      const answer = await token(at.discovery.token_endpoint, renewed.partner, form);
      expect([answer.status, answer.text]).toEqual([400, '{"error":"invalid_grant"}']);
      await partnerctl(environment(), ['audit', 'list', '--client', clientId]);
    });
  });
}

/** The one secret in an answer of JSON. */
function secretOf(answer: string): string {
  const [, secret] = /"secret": ?"([\w-]{43})"/.exec(answer) ?? [];
  if (!secret) throw new Error('The answer holds no secret.');
  return secret;
}

/** Runs partnerctl in a pod of the component and prints what was said, secrets left out. */
async function partnerctl(
  { kube }: Environment,
  words: readonly string[],
  input?: string,
  component: 'identity' | 'design-catalog' = 'identity',
): Promise<string> {
  const within = ['exec', '--stdin', `deployment/${release}-${component}`, `--container=${component}`, '--'];
  const { code, output, errors } = await kube.tryKubectl([...within, 'partnerctl', ...words], input);
  const said = `${output}${errors}`.replace(/[\w-]{43}/g, '…').trim();
  console.log(`$ kubectl exec … -- partnerctl ${words.join(' ')}\n${said}`);
  expect(code, said).toBe(0);
  return output;
}
