// Refresh families that remember every token of theirs, to judge at the end: none accepted twice, none that a partner
// was given lost (specification §3, R11).
import {
  authorizeUrl,
  type Discovery,
  formWith,
  logIn,
  loginForm,
  token,
  tokensOf,
} from '../../support/flow.ts';
import type { Answer } from '../../support/http.ts';
import type { DemoUser, Partner } from '../../support/stack-file.ts';
import { openUserAgent } from '../../support/user-agent.ts';

export interface Chain {
  readonly spent: string[];
  refresh: string;
  access: string;
  /** The last answer to `refresh` never came or was a 503: the token may be spent. */
  doubtful: boolean;
}

interface Verdict {
  readonly refreshes: number;
  /** Consumed tokens that were accepted again. */
  readonly acceptedTwice: number;
  /** Tokens that a partner had been given and that were refused. */
  readonly lostSuccessors: number;
  /** Tokens whose answer was lost, and which were spent: the partner starts a new flow. */
  readonly lostAnswers: number;
}

export type Chains = ReturnType<typeof openChains>;

export function openChains(discovery: Discovery, partner: Partner, user: DemoUser) {
  const counts = { refreshes: 0, acceptedTwice: 0, lostSuccessors: 0, lostAnswers: 0 };
  const spend = (refreshToken: string) =>
    token(discovery.token_endpoint, partner, { grant_type: 'refresh_token', refresh_token: refreshToken });

  function note(chain: Chain, answer: Answer | undefined): boolean {
    if (answer?.status === 200) {
      const { refresh_token, access_token } = tokensOf(answer);
      counts.refreshes += 1;
      chain.spent.push(chain.refresh);
      Object.assign(chain, { refresh: refresh_token, access: access_token, doubtful: false });
      return true;
    }
    if (answer?.status !== 400) {
      chain.doubtful = true;
      return true;
    }
    counts[chain.doubtful ? 'lostAnswers' : 'lostSuccessors'] += 1;
    return false;
  }

  return {
    /** From the first page to tokens, with a browser that nobody knows; the first answer that is not what it should be. */
    logIn: () => logInAnew(discovery, partner, user),
    refresh: (chain: Chain) => spend(chain.refresh),
    /** Takes an answer to `refresh` down; false where the family is at its end. */
    note,
    judge: async (chains: readonly Chain[]): Promise<Verdict> => {
      for (const chain of chains) {
        for (const consumed of chain.spent)
          if ((await spend(consumed)).status === 200) counts.acceptedTwice += 1;
        note(chain, await spend(chain.refresh));
      }
      return counts;
    },
  };
}

async function logInAnew(
  discovery: Discovery,
  partner: Partner,
  user: DemoUser,
): Promise<{ readonly answer: Answer; readonly chain?: Chain }> {
  const agent = openUserAgent(discovery.issuer);
  let at = await agent.visit(authorizeUrl(discovery.authorization_endpoint, partner, { state: 'outage' }));
  if (at.kind === 'page' && loginForm(at)) at = await logIn(agent, at, user);
  const consent = at.kind === 'page' ? formWith(at, 'decision', 'allow') : undefined;
  if (at.kind === 'page' && consent) at = await agent.submit(at, consent, {}, 'decision=allow');
  if (at.kind === 'page') return { answer: at.answer };
  const [redirect_uri] = partner.redirectUris;
  const form = { grant_type: 'authorization_code', code: at.parameters.get('code') ?? '', redirect_uri };
  const answer = await token(discovery.token_endpoint, partner, form);
  if (answer.status !== 200) return { answer };
  const { refresh_token, access_token } = tokensOf(answer);
  return { answer, chain: { spent: [], refresh: refresh_token, access: access_token, doubtful: false } };
}
