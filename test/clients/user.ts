// The user in front of a real client: goes where the client sends the browser, logs in, agrees, and brings
// back the address that the issuer redirects to.
import { logInAndAgree } from '../support/flow.ts';
import { partnerFor, runningStack, userWho } from '../support/stack-file.ts';
import { openUserAgent } from '../support/user-agent.ts';

export const methods = ['client_secret_basic', 'client_secret_post'] as const;
export type Method = (typeof methods)[number];

const stack = runningStack();
const { clientId, clientSecret, redirectUris, scopes } = partnerFor(stack, 'openid', 'email', 'profile');

/** What a client library is configured with, and a person with a season of events. */
export const registration = {
  issuer: stack.issuer,
  clientId,
  clientSecret,
  redirectUri: redirectUris[0],
  scope: scopes.join(' '),
  user: userWho(stack, 'typical season'),
};

/** Walks from the client's authorization address to the redirect back; returns the callback's address. */
export async function agree(authorizationUrl: string): Promise<string> {
  const agent = openUserAgent(stack.issuer);
  const start = await agent.visit(authorizationUrl);
  return (await logInAndAgree(agent, start, registration.user)).location;
}
