// The user in front of a real client: goes where the client sends the browser, logs in, agrees, and brings
// back the address that the issuer redirects to.
import { visit } from '@course-exchange/testcontainers/browser';
import { partnerFor, runningStack, userWho } from '../support/stack-file.ts';

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

export const agree = async (authorizationUrl: string): Promise<string> =>
  (await visit(new URL(authorizationUrl), registration.user)).href;
