// An operator and a new partner, as docs/operator.md tells it for a cluster: from the dossier to the first events, a second
// secret without a failed call, and a consent withdrawn. The transcript is printed.
import { people } from '@course-exchange/local-stack/demo-people';
import { describe, expect, test } from 'vitest';
import { discover, token } from '../support/flow.ts';
import { connect, listEvents, refresh } from '../support/load/families.ts';
import type { Partner } from '../support/stack-file.ts';
import { openUserAgent } from '../support/user-agent.ts';
import { type Environment, release } from './environment.ts';

const clientId = 'acme';
const redirectUri = 'http://127.0.0.1:3999/callback';
const dossier = `clientId: ${clientId}
name: Acme Courses
technicalContact: { name: Ann Example, email: ann@acme.example, phone: "+49 30 1234" }
credentialContacts:
  - { name: Bo Example, email: bo@acme.example }
environments:
  test: { redirectUris: ["${redirectUri}"] }
scopes: [openid, email, profile]
userJourney: Riders connect once and see the courses of their events.
requirements:
  logout: The partner ends its own session only.
  unlinking: A button in the account's settings deletes our tokens.
  retention: Summaries are kept for 30 days.
`;

export function onBoarding(environment: () => Environment): void {
  describe('an operator by kubectl exec', () => {
    test('registers a partner, rotates its secret, and withdraws a consent', async () => {
      const { issuer } = environment();
      const made = await partnerctl(
        environment(),
        ['client', 'register', '-', '--with-secret', '--json'],
        dossier,
      );
      await partnerctl(environment(), ['client', 'approve', clientId, '--note', 'Agreement for the test']);
      await partnerctl(environment(), ['client', 'activate', clientId]);
      const partner = partnerWith(secretOf(made));
      const at = { discovery: await discover(issuer), partner };
      const family = await connect(at, openUserAgent(issuer), people.typical);
      await listEvents(at, family);

      const added = await partnerctl(environment(), ['client', 'secret', 'add', clientId, '--json']);
      const renewed = { ...at, partner: partnerWith(secretOf(added)) };
      for (const either of [at, renewed, at, renewed]) await refresh(either, family);
      await partnerctl(environment(), ['client', 'secret', 'list', clientId]);

      const whose = ['--user', people.typical.email, '--client', clientId];
      await partnerctl(environment(), ['consent', 'withdraw', ...whose, '--yes']);
      const form = { grant_type: 'refresh_token', refresh_token: family.refresh };
      const answer = await token(at.discovery.token_endpoint, renewed.partner, form);
      expect([answer.status, answer.text]).toEqual([400, '{"error":"invalid_grant"}']);
      await partnerctl(environment(), ['audit', 'list', '--client', clientId]);
    });
  });
}

function partnerWith(clientSecret: string): Partner {
  const scopes = ['openid', 'email', 'profile'];
  return { name: 'Acme Courses', clientId, clientSecret, redirectUris: [redirectUri], scopes, active: true };
}

/** The one secret in an answer of JSON. */
function secretOf(answer: string): string {
  const [, secret] = /"secret": ?"([\w-]{43})"/.exec(answer) ?? [];
  if (!secret) throw new Error('The answer holds no secret.');
  return secret;
}

/** Runs partnerctl in a pod of identity and prints what was said, secrets left out. */
async function partnerctl({ kube }: Environment, words: readonly string[], input?: string): Promise<string> {
  const within = ['exec', '--stdin', `deployment/${release}-identity`, '--container=identity', '--'];
  const { code, output, errors } = await kube.tryKubectl([...within, 'partnerctl', ...words], input);
  const said = `${output}${errors}`.replace(/[\w-]{43}/g, '…').trim();
  console.log(`$ kubectl exec … -- partnerctl ${words.join(' ')}\n${said}`);
  expect(code, said).toBe(0);
  return output;
}
