// Discovery and the key set, GET and HEAD (specification §4, R5, R17). Both outlive an identity service that does not
// answer (R14), for a bounded time, so that a withdrawn key does not live on here.

import { toJson } from '@bufbuild/protobuf';
import {
  type GetDiscoveryResponse,
  GetDiscoveryResponseSchema,
} from '@course-exchange/proto/identity/v1/discovery';
import { keySetLifetime } from '@course-exchange/rules/access-token';
import { Failure } from '@course-exchange/runtime/process/errors';
import { inOneFlight } from '@course-exchange/runtime/process/one-flight';
import { jsonAnswer, type Route } from '../http/route.ts';
import { languages } from '../pages/messages/language.ts';
import type { Services } from '../services.ts';
import { authorizePath } from './authorize.ts';
import { tokenPath } from './token.ts';
import { userinfoPath } from './userinfo.ts';

const keySetPath = '/.well-known/jwks.json';
const cacheable = { 'cache-control': `public, max-age=${keySetLifetime}` };

type DiscoveryDeps = Pick<Services, 'discovery'> & {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};

export function discoveryRoutes({ discovery, now }: DiscoveryDeps): readonly Route[] {
  const readDiscovery = withLastAnswer(() => discovery.getDiscovery({}), now);
  const readKeySet = withLastAnswer(() => discovery.getKeySet({}), now);
  return [
    {
      method: 'GET',
      path: '/.well-known/openid-configuration',
      profile: 'public',
      head: true,
      answer: async () => jsonAnswer(200, discoveryJson(await readDiscovery()), cacheable),
    },
    {
      method: 'GET',
      path: keySetPath,
      profile: 'public',
      head: true,
      answer: async () => jsonAnswer(200, (await readKeySet()).jwks, cacheable),
    },
  ];
}

/** The message has the document's names. */
function discoveryJson(facts: GetDiscoveryResponse): string {
  const { issuer } = facts;
  return JSON.stringify({
    ...(toJson(GetDiscoveryResponseSchema, facts, { useProtoFieldName: true }) as object),
    authorization_endpoint: issuer + authorizePath,
    token_endpoint: issuer + tokenPath,
    userinfo_endpoint: issuer + userinfoPath,
    jwks_uri: issuer + keySetPath,
    ui_locales_supported: Object.keys(languages),
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  });
}

/** How long an answer may replace a fresh one, in milliseconds. */
const longestStandIn = 3_600_000;
/** For this time after a failure the last answer is given at once (ms). */
const pause = 2_000;

/**
 * Asks `read`, once for concurrent callers. When it is unavailable, answers with the last success of the past hour, and
 * for a moment without asking.
 */
export function withLastAnswer<T>(read: () => Promise<T>, now: () => number): () => Promise<T> {
  let last: { readonly answer: T; readonly at: number } | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  const readOnce = inOneFlight(read);
  return async () => {
    if (last && now() - failedAt < pause && now() - last.at < longestStandIn) return last.answer;
    try {
      last = { answer: await readOnce(), at: now() };
      failedAt = Number.NEGATIVE_INFINITY;
      return last.answer;
    } catch (error) {
      const unanswered = error instanceof Failure && error.code === 'temporarily_unavailable';
      if (unanswered) failedAt = now();
      if (unanswered && last && now() - last.at < longestStandIn) return last.answer;
      throw error;
    }
  };
}
