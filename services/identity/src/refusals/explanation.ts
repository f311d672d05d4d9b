// Explains a refusal to support: what happened and what the partner does, which may be forwarded; the duty that the
// client broke; the operator's next step. A reason without an entry does not compile.
import {
  alike,
  type Entry,
  type Explanation,
  ended,
  newFlow,
  revocations,
  span,
} from './explanation-entry.ts';
import type { RefusalReason, RefusalRecord } from './reasons.ts';

const theClient = 'The registration: `partnerctl client show CLIENT`.';
const theChanges = 'Who changed the client, and when: `partnerctl audit list --client CLIENT`.';
const theOthers = 'Whether there are more: `partnerctl refusals list --client CLIENT --since 7d`.';
const usersDecision = 'Nothing: it is for the user to decide.';
const verifierForm = '43 to 128 letters, digits, or - . _ ~ (RFC 7636)';
const noClient = 'No client of this name is registered in this environment.';
const inactive = 'The client is not active.';

const { code_replayed, superseded, consent_withdrawn } = revocations;
const { user_disabled, signed_out_by_operator, user_deleted } = revocations;

const entries: Readonly<Record<RefusalReason, Entry>> = {
  ...alike('Correct the request.', {
    'repeated parameter': 'A parameter of the token request came more than once.',
    'two client authentication methods': 'The Authorization header and the body both have a client secret.',
    'two client ids': 'The client_id in the body is not the one in the Authorization header.',
    'grant_type missing': 'The token request has no grant_type.',
    grant_type: 'The grant_type is neither authorization_code nor refresh_token.',
    'code or redirect_uri missing': 'The exchange has no code or no redirect_uri.',
    'refresh_token missing': 'The refresh request has no refresh_token.',
    'a parameter came twice': 'A parameter of the authorization request came more than once.',
    'client_id missing': 'The authorization request has no client_id.',
    'redirect_uri missing': 'The authorization request has no redirect_uri.',
    'scope missing': 'The authorization request has no scope.',
    'response_type missing': 'The authorization request has no response_type.',
    response_type: 'The response_type is not code.',
    'state too long, or not UTF-8': 'The state has more than 2,048 bytes, or is not UTF-8.',
    'nonce too long, or not UTF-8': 'The nonce has more than 2,048 bytes, or is not UTF-8.',
    request: 'The parameter request is not supported.',
    request_uri: 'The parameter request_uri is not supported.',
    response_mode: 'The response_mode is not query.',
    prompt: 'The prompt has an unknown value, or combines none with another one.',
    max_age: 'The max_age is not a whole number of seconds.',
    'id_token_hint.refused': 'The id_token_hint is not an ID token of this issuer for this client.',
    'client_authentication.failed no_credentials':
      'The token request has no client credentials that can be read.',
    'access_token.refused no token': 'The request has no access token in its header or form.',
  }),
  ...alike(
    'Send a challenge (S256) with each authorization request, and its verifier unchanged with the exchange.',
    {
      PKCE: `The code_challenge is not ${verifierForm}, or its method is neither S256 nor plain.`,
      'malformed verifier': `The code_verifier is not ${verifierForm}. The code is not spent.`,
      'PKCE verifier':
        'The authorization request had a challenge and the exchange no verifier, or the reverse. The code is not spent.',
      'code.refused verifier': 'The code_verifier does not match the code_challenge. The code is not spent.',
    },
    undefined,
    'S5.flow',
  ),
  ...alike(
    'Ask for approved scopes alone, and in a refresh for granted ones.',
    {
      'unknown scope': 'A scope is none of openid, email and profile.',
      'scope not approved': 'A scope of the request is not approved for the client.',
      'beyond the grant': 'The refresh asked for a scope that is unknown, or beyond what the user granted.',
    },
    theClient,
    'S5.scope',
  ),
  ...alike(
    'Ask for openid in a new authorization flow.',
    { 'access_token.refused scope': 'The access token was issued without openid, and opens nothing.' },
    theClient,
  ),
  ...alike(
    'Only the operator can change this.',
    {
      'inactive client': inactive,
      'client_authentication.failed inactive_client': inactive,
      'no approved scope is left': 'No scope that the request could get is approved for the client any more.',
      'scope no longer approved': 'A scope of the request lost its approval before the user decided.',
    },
    theChanges,
  ),
  ...alike(
    'Check client_id and issuer: test and production have different clients.',
    { 'unknown client': noClient, 'client_authentication.failed unknown_client': noClient },
    'The registered clients: `partnerctl client list`.',
  ),
  ...alike(
    'Use the newest secret, or ask the operator for another one.',
    {
      'client_authentication.failed wrong_secret':
        'The client secret is not valid: it is wrong, has expired or was retired.',
    },
    'The secrets and their last use: `partnerctl client secret list CLIENT`.',
  ),
  ...alike(
    'Send a registered one exactly: scheme, host, port, path, letter case and trailing slash.',
    {
      'redirect_uri not registered': 'The redirect_uri is not registered for the client in this environment.',
    },
    theClient,
    'S5.redirect',
  ),
  ...alike(
    'Send the redirect_uri of the authorization request, character by character. The code is not spent.',
    { 'code.refused redirect_uri': 'The redirect_uri is not that of the authorization request.' },
    undefined,
    'S3.code.2',
  ),

  ...alike(
    'Start a flow without prompt=none.',
    {
      'prompt=none, and login is to be asked': 'prompt=none was sent, and the user has to log in.',
      'prompt=none, and account is to be asked':
        'prompt=none was sent, and the user has to choose an account.',
      'prompt=none, and consent is to be asked': 'prompt=none was sent, and the user has to consent.',
    },
    usersDecision,
  ),
  ...alike(
    'Tell the user that nothing was connected, and offer to start again.',
    {
      'consent.denied': 'The user refused consent, or cancelled.',
      'another user than the hinted one': 'The user who logged in is not the one of id_token_hint.',
    },
    usersDecision,
  ),
  // A decision before may have connected the user.
  ...alike(
    'Offer to start again, unless this flow has connected the user already.',
    {
      'form came too late':
        'The user submitted a page 30 minutes after the flow began, or when it had ended.',
      'form of another browser':
        'A page was submitted by another browser, or without the cookies of the flow.',
      'decided otherwise before': 'The user had decided otherwise in this flow, in another tab for instance.',
    },
    usersDecision,
  ),

  ...alike('Send it exactly as it was issued.', {
    'code.refused malformed': 'The code does not have the form of one of ours.',
    'refresh_token.refused malformed': 'The refresh token does not have the form of one of ours.',
    'access_token.refused malformed': 'The access token does not have the form of one of ours.',
    'access_token.refused signature': 'The signature of the access token does not fit: it was changed.',
  }),
  ...alike(
    'Send a code or token as the client that it was issued to, unchanged.',
    {
      'code.refused foreign': 'The code was issued to another client.',
      'code.refused forged': 'A part of the code was changed.',
      'refresh_token.refused foreign': 'The refresh token was issued to another client.',
    },
    theOthers,
  ),
  ...alike(
    'Exchange a code at once; now start a new authorization flow.',
    {
      'code.refused not_known':
        'The code is not known: never issued here, older than 5 minutes, or its grant has ended.',
    },
    theOthers,
  ),
  'code.refused replayed': {
    ...code_replayed,
    sentence: 'The code was used before.',
    partnerDoes: 'Exchange a code once; now start a new authorization flow.',
    since: (before) => `The code was used ${before}, and a code is good for one exchange.`,
  },
  'code.refused consent_withdrawn': consent_withdrawn,
  'code.refused user_disabled': user_disabled,
  'code.refused signed_out_by_operator': signed_out_by_operator,
  'code.refused user_deleted': user_deleted,

  ...alike(
    newFlow,
    {
      'refresh_token.refused not_known':
        'The refresh token is not known: never issued here, or ended more than seven days ago.',
      'refresh_token.refused expired': 'The refresh token has expired: it is valid for 30 days.',
    },
    theOthers,
  ),
  'refresh_token.refused superseded': superseded,
  'refresh_token.refused revoked': ended('The grant was revoked', theChanges),
  'refresh_token.refused reused': {
    sentence:
      'The refresh token was replaced more than one step ago, or was never one of this grant: start a new authorization flow.',
    duty: 'S5.lifetime',
    partnerDoes:
      'If you have newer tokens, keep them instead. Refresh one at a time, store the new token in one step, and send one again only after our 503, once.',
    operatorLooks: theOthers,
    since: (before) =>
      `The refresh token was replaced ${before}, by a request whose answer your backend may have lost. It is spent: start a new authorization flow.`,
  },
  'refresh_token.refused consent_withdrawn': consent_withdrawn,
  'refresh_token.refused user_disabled': user_disabled,
  'refresh_token.refused signed_out_by_operator': signed_out_by_operator,
  'refresh_token.refused user_deleted': user_deleted,

  ...alike(
    'Send the access token that the token endpoint answered.',
    {
      'access_token.refused algorithm': 'The token is not one of our access tokens: often it is an ID token.',
      'access_token.refused type': 'The token is not an access token.',
      'access_token.refused issuer': 'The token is of another issuer.',
      'access_token.refused audience': 'The token is for another audience.',
      'access_token.refused use': 'The token is an ID token, which opens no API.',
    },
    undefined,
    'S5.api',
  ),
  ...alike(
    'Refresh once and send the new access token, or start a new authorization flow.',
    {
      'access_token.refused expired': 'The access token has expired: it is valid for 15 minutes.',
      'access_token.refused key':
        'The key that signed the access token is not published any more, or not ours.',
      'access_token.refused issued later': 'By our clock the access token was issued in the future.',
    },
    'Keys and clocks: `partnerctl key list --all`, and the time of each machine.',
  ),
  'access_token.refused subject': ended("The user's account was disabled or deleted"),
};

/** A newer process may have written an unknown reason. */
const ofNewerVersion: Entry = {
  sentence: 'The request was refused.',
  duty: '',
  partnerDoes: 'Wait for the answer of the operator.',
  operatorLooks: 'A newer version of identity gave this reason: ask again when the rollout has ended.',
};

export function explain({ reason, at, clientId, user, earlier }: RefusalRecord): Explanation {
  const known: Readonly<Record<string, Entry>> = entries;
  const revocation = reason === 'refresh_token.refused revoked' && earlier?.revoked;
  const entry = revocation ? revocations[revocation] : (known[reason] ?? ofNewerVersion);
  const { since, duty, partnerDoes, operatorLooks } = entry;
  const sentence = earlier && since ? since(`${span(at - earlier.at)} earlier`) : entry.sentence;
  const looks = operatorLooks.replaceAll('CLIENT', clientId ?? 'CLIENT').replaceAll('USER', user ?? 'USER');
  return { sentence, duty, partnerDoes, operatorLooks: looks };
}
