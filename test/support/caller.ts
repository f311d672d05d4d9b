// A partner of a deployment and a person who agrees: codes, tokens and what tokens open.
import { authorizeUrl, discover, logInAndAgree, type Tokens, token, tokensOf } from './flow.ts';
import { type Answer, send } from './http.ts';
import { partnerFor, type StackFile, userWho } from './stack-file.ts';
import { openUserAgent, type UserAgent } from './user-agent.ts';

export type Caller = Awaited<ReturnType<typeof openCaller>>;

/** A refresh token of the right form, so that identity judges it, and asks Redis for it. */
export const unknownToken = 'A'.repeat(65);

/** The person is the demo user whose `about` holds these words. */
export async function openCaller(
  stack: Pick<StackFile, 'issuer' | 'partners' | 'users'>,
  about = 'typical season',
) {
  const discovery = await discover(stack.issuer);
  const partner = partnerFor(stack, 'openid', 'email', 'profile');
  const user = userWho(stack, about);
  const ask = (form: Readonly<Record<string, string>>) => token(discovery.token_endpoint, partner, form);

  /** The form that exchanges a code which the person just agreed to; `parameters` are those of the request besides. */
  async function codeForm(
    agent = openUserAgent(stack.issuer),
    parameters: Readonly<Record<string, string>> = {},
  ): Promise<Readonly<Record<string, string>>> {
    const start = await agent.visit(authorizeUrl(discovery.authorization_endpoint, partner, parameters));
    const departure = await logInAndAgree(agent, start, user);
    const [redirect_uri] = partner.redirectUris;
    return { grant_type: 'authorization_code', code: departure.parameters.get('code') ?? '', redirect_uri };
  }

  return {
    discovery,
    partner,
    user,
    ask,
    codeForm,
    refresh: (refresh_token: string): Promise<Answer> => ask({ grant_type: 'refresh_token', refresh_token }),
    newTokens: async (agent?: UserAgent): Promise<Tokens> => tokensOf(await ask(await codeForm(agent))),
    events: (accessToken: string): Promise<Answer> =>
      send(`${stack.issuer}/api/events`, { headers: { authorization: `Bearer ${accessToken}` } }),
  };
}
