// Specification §5–§9: authentication, events, errors, limits, versioning.
import type { ClauseSection } from './clause.ts';

export const authentication: ClauseSection = {
  title: 'Specification §5, authentication',
  outside: {
    'S5.api.1': 'The resource API takes Authorization: Bearer.',
    'S5.api.2':
      'The token is valid for the issuer, has audience design-api, token_use access_token and scope openid.',
    'S5.api.3': 'Otherwise 401 invalid_token.',
    'S5.api.4': 'The token’s sub fixes which designs are visible.',
    'S5.api.5': 'An ID token calls no API.',
    'S5.flow.1': 'Requesting an unapproved scope yields invalid_scope.',
    'S5.flow.2': 'A code lives 5 minutes and is exchanged once.',
    'S5.flow.3':
      'The ID token validates: key by kid from the key set, RS256, exact issuer, client as audience, exp, iat, nonce.',
    'S5.flow.4': 'sub is the stable user identifier.',
    'S5.redirect.1': 'Redirect URI matching is exact: scheme, host, port, path, letter case, trailing slash.',
    'S5.redirect.2': 'A redirect URI carries no query string or fragment.',
    'S5.lifetime.1': 'ID token lifetime is 15 minutes.',
    'S5.lifetime.2': 'Access token lifetime is 15 minutes.',
    'S5.lifetime.3': 'Refresh token lifetime is 30 days, rolling.',
    'S5.absent.1':
      'No revocation, introspection, registration or end-session endpoint, neither served nor published.',
    'S5.scope.1': 'Scopes are openid, email, profile; access to Events and designs is authorized by openid.',
    'S5.scope.2': 'Tokens and user-info carry e-mail and name whatever the email and profile scopes imply.',
    'S5.enforce.1': 'PKCE, state and nonce are accepted but not required.',
    'S5.enforce.2': 'Discovery advertises PKCE plain.',
  },
  inside: {},
  apart: [
    ['Access tokens must never be passed to third parties.', 'binds partner clients'],
    ['Flow steps 1 and 3, ID-token checks, account linking.', 'bind partner clients'],
    ['Client handling of tokens: encrypt, replace atomically, serialize.', 'binds partner clients'],
    ['Disconnecting must delete the tokens the partner stores.', 'binds partner clients'],
    ['Clients request only approved scopes and use S256 only.', 'binds partner clients'],
  ],
};

export const eventsAndErrors: ClauseSection = {
  title: 'Specification §6 and §7, events and errors',
  outside: {
    'S6.1': 'No webhooks and no change feed.',
    'S7.1': 'Errors are a JSON object with the one field error.',
    'S7.api.1': '401 invalid_token: token missing, malformed, expired, invalid or without the scope.',
    'S7.api.2': '404 not_found: invalid route, or Event not available to this user.',
    'S7.api.3': '405 method_not_allowed: method other than GET.',
    'S7.code.1': 'invalid_client: client missing, unknown, inactive or wrongly authenticated.',
    'S7.code.2': 'invalid_redirect_uri: missing or unregistered callback.',
    'S7.code.3': 'invalid_scope: empty or unapproved scope set.',
    'S7.code.4': 'invalid_request: missing fields or invalid PKCE combination.',
    'S7.code.5': 'access_denied: user refused consent.',
    'S7.code.6': 'invalid_grant: invalid, expired, reused or wrongly bound code or refresh token.',
    'S7.code.7': 'unsupported_response_type: other than code.',
    'S7.code.8': 'unsupported_grant_type: unsupported token grant.',
    'S7.code.9': 'invalid_token: missing, malformed, expired or invalid bearer token.',
    'S7.channel.1':
      'After the redirect URI is verified, denial and some invalid_request errors redirect with error and state.',
    'S7.channel.2': 'Errors before a trusted redirect URI return a direct 400 with a JSON body.',
  },
  inside: {},
  apart: [
    ['Changes are discovered only by reading again.', 'describes what clients do'],
    ['Schema of other 5xx bodies: not shown; clients back off.', 'left open (R14) and binds partner clients'],
    ['Do not show raw token responses; log safe fields only.', 'client guidance'],
  ],
};

export const limits: ClauseSection = {
  title: 'Specification §8 and §9, limits and versioning',
  outside: {
    'S8.1': 'At most 500 design summaries per response, no flag, no cursor.',
    'S8.2': 'The event list is unbounded and returned in one response.',
    'S8.3': 'Authorization code validity: 5 minutes.',
    'S8.4': 'Access and ID token validity: 15 minutes, expires_in 900.',
    'S8.5': 'Refresh token validity: 30 days, rolling from each rotation.',
    'S8.6': 'No pagination, filtering, sorting or incremental sync exists.',
    'S9.1': 'No version identifier appears in paths or headers.',
  },
  inside: {},
  apart: [
    ['A partner needing paging requires a revised contract and must not scrape.', 'binds partner clients'],
    ['Data volume must be confirmed to fit before production approval.', 'binds operator and partner'],
    ['Ordering and absent resource scopes are no guarantees.', 'grants a freedom'],
    [
      'Clients must not build before the operator confirms; release must not be assumed.',
      'binds partner clients',
    ],
    ['Geometry, files, writes and synchronization need a separate contract.', 'outside this service'],
  ],
};
