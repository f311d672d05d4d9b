// Specification §4: the endpoints.
import type { ClauseSection } from './clause.ts';

export const endpoints: ClauseSection = {
  title: 'Specification §4, endpoints',
  outside: {
    'S4.resource.0': 'All resource endpoints accept only GET and return JSON.',
    'S4.resource.1': 'GET /api/events answers 200 with {items: EventSummary[]}.',
    'S4.resource.2': 'GET /api/events/{eventId}/designs answers 200 with {event, items: DesignSummary[]}.',
    'S4.resource.3': 'Neither accepts filtering, sorting, pagination, cursor or incremental-sync parameters.',
    'S4.resource.4': '/api/events returns the full list in one response.',
    'S4.resource.5': 'The design list returns at most 500 summaries without truncation indicator or cursor.',
    'S4.resource.6': 'A nonexistent and a foreign Event both return 404 not_found, indistinguishably.',
    'S4.resource.7': 'No cross-origin browser access is provided.',
    'S4.resource.8': 'Any other method returns 405; an unknown route returns 404.',
    'S4.discovery.1': 'GET /.well-known/openid-configuration returns the discovery document.',
    'S4.discovery.2': 'Published: response type code; grants authorization_code and refresh_token.',
    'S4.discovery.3': 'Published: client_secret_basic and client_secret_post.',
    'S4.discovery.4': 'Published: RS256 for ID tokens; PKCE S256 and plain.',
    'S4.discovery.5': 'Published: scopes openid, profile, email; claims sub, email, email_verified, name.',
    'S4.discovery.6': 'The issuer value equals the configured issuer exactly.',
    'S4.authorization.1':
      'The authorization endpoint takes the eight query parameters; response_type must be code.',
    'S4.authorization.2': 'Success: redirect to {redirect_uri}?code=…&state=<state>.',
    'S4.authorization.3': 'Denial: redirect to {redirect_uri}?error=access_denied&state=<state>.',
    'S4.token.1': 'The token endpoint takes POST with a form-encoded body.',
    'S4.token.2': 'client_secret_basic is accepted.',
    'S4.token.3': 'client_secret_post is accepted.',
    'S4.token.4': 'authorization_code takes code, identical redirect_uri and code_verifier.',
    'S4.token.5': 'refresh_token takes refresh_token.',
    'S4.token.6':
      'Success body: access_token (JWT), refresh_token, token_type Bearer, expires_in 900, scope, id_token.',
    'S4.token.7': 'id_token only when openid was granted, and only for the code grant.',
    'S4.token.8': 'Token responses carry Cache-Control: no-store and Pragma: no-cache.',
    'S4.userinfo.1': 'User-info answers GET with a bearer token with sub, email, email_verified, name.',
    'S4.userinfo.2': 'User-info is available when the access token contains openid.',
    'S4.jwks.1': 'The key set is published in discovery; the signing key is selected by the JWT’s kid.',
  },
  inside: {},
  apart: [
    [
      'Clients fetch discovery at start-up, cache it and refresh it when keys change.',
      'binds partner clients',
    ],
    ['Other fields, body formats and concrete paths: not shown.', 'leaves open; settled by rulings'],
  ],
};
