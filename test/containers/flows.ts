// A partner and its users' browsers, a step at a time: what each step gives is kept, to be tried again later.
import {
  authorizeUrl,
  type Discovery,
  formWith,
  logIn,
  logInAndAgree,
  loginForm,
  token,
  tokensOf,
} from '../support/flow.ts';
import { send } from '../support/http.ts';
import type { DemoUser, Partner } from '../support/stack-file.ts';
import type { UserAgent } from '../support/user-agent.ts';

async function statusOf(url: string, access: string): Promise<number> {
  return (await send(url, { headers: { authorization: `Bearer ${access}` } })).status;
}

export type Flows = ReturnType<typeof openFlows>;

export function openFlows(oidc: Discovery, partner: Partner) {
  const authorize = (agent: UserAgent) => agent.visit(authorizeUrl(oidc.authorization_endpoint, partner));
  const code = async (agent: UserAgent, user: DemoUser) => {
    const { parameters } = await logInAndAgree(agent, await authorize(agent), user);
    return parameters.get('code') ?? '';
  };
  const exchange = (spent: string) => {
    const form = { grant_type: 'authorization_code', code: spent, redirect_uri: partner.redirectUris[0] };
    return token(oidc.token_endpoint, partner, form);
  };
  const refresh = (refresh_token: string, by = partner) =>
    token(oidc.token_endpoint, by, { grant_type: 'refresh_token', refresh_token });
  return {
    code,
    exchange,
    refresh,
    connect: async (agent: UserAgent, user: DemoUser) => tokensOf(await exchange(await code(agent, user))),
    /** Its successor, by as many refreshes. */
    spend: async (refreshToken: string, times = 1): Promise<string> => {
      let last = refreshToken;
      for (let at = 0; at < times; at += 1) last = tokensOf(await refresh(last)).refresh_token;
      return last;
    },
    /** Statuses of what an access token opens. */
    events: (access: string) => statusOf(`${oidc.issuer}/api/events`, access),
    userInfo: (access: string) => statusOf(oidc.userinfo_endpoint, access),
    asksToLogIn: async (agent: UserAgent) => {
      const at = await authorize(agent);
      return at.kind === 'page' && loginForm(at) !== undefined;
    },
    /** What follows the login form. */
    logIn: async (agent: UserAgent, user: DemoUser): Promise<'consent' | 'login' | 'code' | 'other'> => {
      const page = await authorize(agent);
      if (page.kind !== 'page') return 'code';
      const after = await logIn(agent, page, user);
      if (after.kind !== 'page') return 'code';
      if (loginForm(after)) return 'login';
      return formWith(after, 'decision', 'allow') ? 'consent' : 'other';
    },
    signOut: async (agent: UserAgent): Promise<void> => {
      const page = await agent.visit(`${oidc.issuer}/sign-out`);
      const [form] = page.kind === 'page' ? page.forms : [];
      if (page.kind !== 'page' || form === undefined) throw new Error('No form to sign out with.');
      await agent.submit(page, form, {});
    },
  };
}
