// Rulings R15–R24: tokens, keys, and the resource API.
import type { ClauseSection } from './clause.ts';

export const keyRulings: ClauseSection = {
  title: 'Rulings R15–R19, tokens and keys',
  outside: {
    'R15.1': 'Access token: typ at+jwt, claims iss, aud, sub, client_id, scope, token_use, iat, exp, jti.',
    'R15.2':
      'ID token: exactly the claims of the specification; nonce only if sent; auth_time under R5; RS256.',
    'R16.1': 'Verification pins algorithm and issuer.',
    'R16.2': 'Keys come only from the key set by kid; jku, jwk, x5u are ignored.',
    'R16.3': 'token_use is checked.',
    'R16.4': 'No leeway at exp; 5 s for iat.',
    'R17.3': 'The first keys of an installation sign at once.',
    'R17.4': 'Key set and discovery: Cache-Control: public, max-age=300.',
    'R18.1': 'Codes and refresh tokens are written with A–Z a–z 0–9 - _ only.',
    'R19.1': 'sub is opaque and never the e-mail.',
  },
  inside: {
    'R15.3': 'design-api cannot be a client id.',
    'R17.1': 'Signing keys are published before they sign.',
    'R17.2': 'They stay published until every token they signed has expired.',
    'R18.2': 'Codes, refresh tokens and client secrets rest as SHA-256.',
    'R18.3': 'Passwords rest as argon2id.',
    'R18.4': 'Private keys rest encrypted under a key from outside the database.',
    'R18.5': 'An unknown client or user costs the same time as a wrong secret.',
    'R19.2': 'sub is random and never reused.',
  },
  apart: [],
};

export const resourceRulings: ClauseSection = {
  title: 'Rulings R20–R24, resource API',
  outside: {
    'R20.1':
      'Precedence: unknown route 404, then 405 with Allow: GET (HEAD and OPTIONS too), then 401, then event 404.',
    'R20.2': 'A trailing slash, an empty eventId, broken percent-encoding: unknown route.',
    'R20.3': 'An id that is not ours is an event 404, after 405 and 401.',
    'R20.4': 'Query parameters change nothing.',
    'R20.5': '?access_token= is ignored.',
    'R20.6': 'No CORS header anywhere.',
    'R21.1': '401 carries WWW-Authenticate: Bearer, with error="invalid_token" when a token was sent.',
    'R21.2': 'A token without openid is 401, not 403.',
    'R22.1': 'An Event is the group of a user’s non-deleted designs with one event identifier.',
    'R22.2': 'name is the event name of the design updated last.',
    'R22.3': 'startDate / endDate are the earliest / latest event date; updatedAt the latest update.',
    'R22.4': 'designCount is the true count, not capped.',
    'R22.5': 'An event whose designs are all deleted does not exist.',
    'R22.6': 'An empty stored identifier counts as none.',
    'R22.7': 'Designs without an update time sort last, ties by id, in name as in the 500.',
    'R22.8': 'The public id is base64url of the stored identifier.',
    'R23.1': 'The 500 are the most recently updated, then by id.',
    'R23.2': 'Dates are ISO 8601 UTC with Z and milliseconds.',
    'R23.3': 'Non-nullable strings are never null.',
    'R24.1': 'Foreign and nonexistent events give byte-identical answers but for the request id.',
  },
  inside: {
    'R23.4': "The schema says NOT NULL DEFAULT '' for them.",
    'R24.2': 'By the same query.',
  },
  apart: [],
};
