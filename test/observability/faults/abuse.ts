// Strangers: who replays tokens, forges them, or guesses secrets and passwords. Each from networks of their own.
import { setTimeout as sleep } from 'node:timers/promises';
import { series } from '@course-exchange/observability/promql';
import { identityMetrics } from '../../../services/identity/src/metrics.ts';
import { until } from '../../stores/redis-servers.ts';
import { unknownToken } from '../../support/caller.ts';
import { basic } from '../../support/flow.ts';
import { send } from '../../support/http.ts';
import { cloneFamilies } from '../../support/load/refresh-burst.ts';
import { atOnce, type Fault, get, meanwhile, openLogin } from './fault.ts';

const replayedTokens: Fault = {
  fires: ['TokensReplayed critical'],
  inject: async ({ caller, system }, untilFired) => {
    const { refresh_token } = await caller.newTokens();
    const families = await cloneFamilies(`${system.stack.redis}`, refresh_token, 10);
    // The family's head with another secret than its newest.
    const used = families.map((family) => family.slice(0, 22) + 'B'.repeat(43));
    await untilFired(() => atOnce(used.length, (index) => caller.refresh(`${used[index]}`)));
  },
};

/** The catalog judges the one, identity the other. */
const guarded = ['/api/events', '/userinfo'];

const forgedTokens: Fault = {
  fires: ['TokensForged critical'],
  inject: async (subject, untilFired) => {
    const { access_token } = await subject.caller.newTokens();
    const forged = access_token.replace(/[^.]+$/, 'A'.repeat(86));
    const forge = () => atOnce(4, (index) => get(subject, forged, `${guarded[index % 2]}`, '127.0.200.1'));
    await untilFired(forge);
    const counted = `sum by (component) (${series(identityMetrics.accessTokensRefused, { reason: 'signature' })}) > 0`;
    await until('both count them', async () => (await subject.prometheus.query(counted)).length === 2);
  },
};

const guessedSecrets: Fault = {
  fires: ['ClientSecretGuessing critical'],
  inject: async ({ caller }, untilFired) => {
    const headers = basic({ ...caller.partner, clientSecret: 'wrong' });
    const form = { grant_type: 'refresh_token', refresh_token: unknownToken };
    const guess = () => send(caller.discovery.token_endpoint, { form, headers, from: '127.0.201.1' });
    await untilFired(() => atOnce(10, guess));
  },
};

/** So many that some always wait to be hashed, from so many networks that none is held back at once. */
const guessers = 24;

const guessedPasswords: Fault = {
  fires: ['PasswordGuessing critical', 'HashingQueue warning'],
  inject: async (subject, untilFired) => {
    const logins = await Promise.all(
      Array.from({ length: guessers }, (_, lane) => openLogin(subject, `127.0.${lane + 1}.1`)),
    );
    let tried = 0;
    const guess = (lane: number) => {
      tried += 1;
      const login = logins[lane];
      if (login === undefined) throw new Error('no such lane');
      return login({ email: `user-${tried}@example.com`, password: 'wrong' });
    };
    // One who is held back soon: refused without a hash, so that a slow machine tells of many in time, too.
    const heldBack = await openLogin(subject, '127.0.100.1');
    const insist = async () => {
      await atOnce(1, () => heldBack({ email: 'user@example.com', password: 'wrong' }));
      await sleep(50);
    };
    await meanwhile(guessers, guess, () => untilFired(insist));
  },
};

export const abuse = { replayedTokens, forgedTokens, guessedSecrets, guessedPasswords };
