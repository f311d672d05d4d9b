// The user in front of a real client: goes where the client sends the browser, logs in, agrees, and brings
// back the address that the issuer redirects to.
import { logInAndAgree } from '../support/flow.ts';
import { type DemoUser, partnerFor, type StackFile, userWho } from '../support/stack-file.ts';
import { openUserAgent } from '../support/user-agent.ts';

/** What a client library is configured with. */
export interface Registration {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly user: DemoUser;
}

export const methods = ['client_secret_basic', 'client_secret_post'] as const;
export type Method = (typeof methods)[number];

/** The registration of the partner with all three scopes, and a person with a season of events. */
export function registrationOf(stack: StackFile): Registration {
  const partner = partnerFor(stack, 'openid', 'email', 'profile');
  return {
    issuer: stack.issuer,
    clientId: partner.clientId,
    clientSecret: partner.clientSecret,
    redirectUri: partner.redirectUris[0],
    scope: 'openid email profile',
    user: userWho(stack, 'typical season'),
  };
}

/** Walks from the client's authorization address to the redirect back; returns the callback's address. */
export async function agree({ issuer, user }: Registration, authorizationUrl: string): Promise<string> {
  const agent = openUserAgent(issuer);
  const departure = await logInAndAgree(agent, await agent.visit(authorizationUrl), user);
  return departure.location;
}
