// One partner's way through a system in containers: a person logs in and agrees, the partner reads and refreshes.
import { demoPartners, demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { expect } from 'vitest';
import { authorizeUrl, discover, logInAndAgree, pkce, token, tokensOf } from '../support/flow.ts';
import { send } from '../support/http.ts';
import type { Partner } from '../support/stack-file.ts';
import { openUserAgent } from '../support/user-agent.ts';

export async function walkThrough(
  issuer: string,
  partner = demoPartners('http://127.0.0.1:9000')[1] as Partner,
): Promise<void> {
  const oidc = await discover(issuer);
  expect(oidc.issuer).toBe(issuer);
  const { verifier, challenge } = pkce();
  const asked = { state: 'st', nonce: 'n1', code_challenge: challenge, code_challenge_method: 'S256' };
  const agent = openUserAgent(issuer);
  const start = await agent.visit(authorizeUrl(oidc.authorization_endpoint, partner, asked));
  const departure = await logInAndAgree(agent, start, demoUsers.typical);
  const granted = tokensOf(
    await token(oidc.token_endpoint, partner, {
      grant_type: 'authorization_code',
      code: departure.parameters.get('code') ?? '',
      redirect_uri: partner.redirectUris[0],
      code_verifier: verifier,
    }),
  );
  const renewed = tokensOf(
    await token(oidc.token_endpoint, partner, {
      grant_type: 'refresh_token',
      refresh_token: granted.refresh_token,
    }),
  );
  const answer = await send(`${issuer}/api/events`, {
    headers: { authorization: `Bearer ${renewed.access_token}` },
  });
  expect(answer.status).toBe(200);
  expect((answer.json().items as unknown[]).length).toBeGreaterThan(5);
}
