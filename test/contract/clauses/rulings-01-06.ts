// Rulings R1–R6: the authorization endpoint.
import type { ClauseSection } from './clause.ts';

export const authorizationRulings: ClauseSection = {
  title: 'Rulings R1–R6, authorization endpoint',
  outside: {
    'R1.1': 'Errors of R1 are a direct 400 {"error": code}.',
    'R1.2': 'A known parameter given twice: invalid_request, before everything else.',
    'R1.3': 'Client missing, unknown or inactive: invalid_client, before the redirect URI.',
    'R1.4': 'Redirect URI missing or not registered: invalid_redirect_uri, before the scope.',
    'R1.5': 'Scope empty or not approved: invalid_scope, before the response type.',
    'R1.6':
      'response_type missing: invalid_request; other than code: unsupported_response_type; before PKCE.',
    'R1.7': 'PKCE errors come last: invalid_request.',
    'R1.8': 'An empty value counts as absent.',
    'R1.9': 'Unknown parameters are ignored, repeated too.',
    'R1.10': 'The body is JSON whatever Accept says.',
    'R1.11': 'Pages for people appear only for an expired or foreign form and when a store does not answer.',
    'R2.1': 'PKCE is optional: neither challenge nor verifier is needed.',
    'R2.2': 'A challenge without a method means plain.',
    'R2.3': 'Method without challenge, unknown method, malformed challenge: invalid_request.',
    'R2.4':
      'Verifier missing where a challenge was given, given where none was, or malformed: invalid_request.',
    'R2.5': 'A verifier that does not match: invalid_grant.',
    'R2.6': 'None of these consumes the code.',
    'R3.1': 'Redirect URIs are compared as raw strings after one form-decoding.',
    'R3.3': 'The redirect is the registered string with the answer appended.',
    'R3.4': 'state is echoed exactly.',
    'R3.5': 'state is left out when absent.',
    'R4.1': 'Redirects use 303.',
    'R4.2': 'No iss parameter is added.',
    'R5.1': 'prompt=none without a session: login_required by redirect.',
    'R5.2': 'prompt=none without consent: consent_required by redirect.',
    'R5.3': 'prompt=login shows who is signed in with “use another account”, and asks for the password.',
    'R5.4': 'prompt=consent and select_account show who is signed in with “use another account”.',
    'R5.5': 'prompt=none with another value: invalid_request by redirect.',
    'R5.6': 'max_age brings auth_time into the ID token, and nothing else does.',
    'R5.7': 'A malformed or negative max_age: invalid_request by redirect.',
    'R5.8': 'login_hint fills the login form.',
    'R5.9': 'id_token_hint: signature, issuer and audience checked, expiry not.',
    'R5.10': 'id_token_hint for another user: the login form, or login_required under none.',
    'R5.11': 'request and request_uri: redirect with request_not_supported / request_uri_not_supported.',
    'R5.12':
      'request_parameter_supported, request_uri_parameter_supported, claims_parameter_supported are false.',
    'R5.13': 'claims, acr_values, display, claims_locales are ignored.',
    'R5.14': 'ui_locales is honoured.',
    'R5.15': 'A form-encoded POST is answered as the GET.',
    'R5.16': 'Other methods: 405 with Allow: GET, POST.',
    'R6.1': 'Consent is remembered per user and client.',
    'R6.2': 'It is asked again only for a scope not yet granted, or on prompt=consent.',
    'R6.3':
      'An expired or foreign form redirects with invalid_request and state when the stored transaction proves the URI.',
    'R6.4': 'Otherwise a page for people, without protocol words, status 400.',
    'R6.5': 'Client, user and scopes are checked again when consent is submitted.',
    'R6.6': 'A foreign form changes nothing: the owner’s transaction goes on.',
    'R6.7': 'The same decision repeated within 10 s gets the same redirect, never a second code.',
    'R6.8': 'The consent page says that e-mail and name are released, whatever the scopes.',
  },
  inside: {
    'R3.2':
      'Registration refuses unsafe redirect URIs; http only for loopback in a non-production environment.',
    'R5.17':
      'The OpenID Foundation’s Basic and Config checks hold (proven through certified client libraries).',
  },
  apart: [],
};
