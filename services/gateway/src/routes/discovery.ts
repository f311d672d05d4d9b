// Discovery and the key set, GET and HEAD (specification §4, R17.4, R31.1). Both survive an outage of identity
// (services.ts).
import { toJson } from '@bufbuild/protobuf';
import {
  type GetDiscoveryResponse,
  GetDiscoveryResponseSchema,
} from '@course-exchange/proto/identity/v1/discovery';
import { keySetLifetime } from '@course-exchange/rules/access-token';
import { jsonAnswer, type Route } from '../http/route.ts';
import { languages } from '../pages/messages/language.ts';
import type { Services } from '../services.ts';
import { authorizePath } from './authorize.ts';
import { tokenPath } from './token.ts';
import { userinfoPath } from './userinfo.ts';

const keySetPath = '/.well-known/jwks.json';
const cacheable = { 'cache-control': `public, max-age=${keySetLifetime}` };

export function discoveryRoutes({ discovery }: Pick<Services, 'discovery'>): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/.well-known/openid-configuration',
      profile: 'public',
      head: true,
      answer: async () => jsonAnswer(200, discoveryJson(await discovery.document()), cacheable),
    },
    {
      method: 'GET',
      path: keySetPath,
      profile: 'public',
      head: true,
      answer: async () => jsonAnswer(200, (await discovery.keySet()).jwks, cacheable),
    },
  ];
}

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
