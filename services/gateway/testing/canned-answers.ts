// What the stand-ins answer unless a test says otherwise: a calm day with one partner and one user.
import type { CatalogService } from '@course-exchange/proto/catalog/v1';
import type { AuthorizationService } from '@course-exchange/proto/identity/v1/authorization';
import type { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import type { TokenService } from '@course-exchange/proto/identity/v1/token';
import type { Handlers } from '@course-exchange/runtime/grpc/server';

export type CannedAnswers = Handlers<typeof AuthorizationService> &
  Handlers<typeof TokenService> &
  Handlers<typeof DiscoveryService> &
  Handlers<typeof CatalogService>;

export const page = {
  clientName: 'Stable Diary',
  formToken: 'form-token',
  uiLocales: '',
};
export const account = { name: 'Marta Lindqvist', email: 'marta@example.org' };
export const interactionId = 'AAAAAAAAAAAAAAAAAAAAAA';

const redirect = { location: 'https://partner.example/cb?code=abc&state=x' };
const event =
  '{"id":"ZXZlbnQ","name":"Autumn Show","startDate":"2026-09-01T00:00:00.000Z","endDate":null,"updatedAt":null,"designCount":2}';

export const cannedAnswers: CannedAnswers = {
  beginAuthorization: async () => ({
    outcome: { case: 'interaction', value: { interactionId, interactionCookie: 'cookie', expiresIn: 1800 } },
  }),
  getInteraction: async () => ({ view: { case: 'login', value: { page, email: '' } } }),
  submitLogin: async () => ({ outcome: { case: 'accepted', value: { browserSession: 'session' } } }),
  submitAccountChoice: async () => ({ outcome: { case: 'next', value: {} }, sessionEnded: true }),
  submitConsent: async () => ({ outcome: { case: 'redirect', value: redirect } }),
  cancelAuthorization: async () => ({ outcome: { case: 'redirect', value: redirect } }),
  getBrowserSession: async () => ({ account, formToken: 'sign-out-token' }),
  endBrowserSession: async () => ({ ended: true }),
  exchangeToken: async () => ({
    accessToken: 'access',
    refreshToken: 'refresh',
    expiresIn: 900,
    scope: 'openid',
    idToken: 'identity',
  }),
  getUserInfo: async () => ({ sub: 'sub', email: account.email, emailVerified: true, name: account.name }),
  getDiscovery: async () => ({ issuer: 'http://127.0.0.1', responseTypesSupported: ['code'] }),
  getKeySet: async () => ({
    jwks: '{"keys":[{"kty":"RSA","use":"sig","alg":"RS256","kid":"k1","n":"n","e":"AQAB"}]}',
  }),
  listEvents: async function* () {
    yield { body: Buffer.from('{"items":[') };
    yield { body: Buffer.from(`${event}]}`) };
  },
  listDesigns: async function* () {
    yield { body: Buffer.from(`{"event":${event},"items":[]}`) };
  },
};
