// Explains a refusal to support: what happened and what the partner does, which may be forwarded; the duty that the
// client broke; the operator's next step. A reason without an entry does not compile.
import { alike, type Entry, ended, newFlow, revocations, span } from './explanation-entry.ts';
import type { RefusalName } from './reasons.ts';
import type { ListedRefusal } from './refusal-table.ts';

const theClient = 'The registration: `partnerctl client show CLIENT`.';
const theChanges = 'Who changed the client, and when: `partnerctl audit list --client CLIENT`.';
const theOthers = 'Whether there are more: `partnerctl refusals list --client CLIENT --since 7d`.';
const usersDecision = 'Nothing: it is for the user to decide.';
const verifierForm = '43 to 128 letters, digits, or - . _ ~ (RFC 7636)';
const noClient = 'No client of this name is registered in this environment.';
const inactive = 'The client is not active.';

const entries: Readonly<Record<RefusalName, Entry>> = {
  ...alike('Correct the request.', {
    'token.repeated_parameter': 'A parameter of the token request came more than once.',
    'token.two_client_authentication_methods':
      'The Authorization header and the body both have a client secret.',
    'token.two_client_ids': 'The client_id in the body is not the one in the Authorization header.',
    'token.grant_type_missing': 'The token request has no grant_type.',
    'token.grant_type': 'The grant_type is neither authorization_code nor refresh_token.',
    'token.code_or_redirect_uri_missing': 'The exchange has no code or no redirect_uri.',
    'token.refresh_token_missing': 'The refresh request has no refresh_token.',
    'authorization.repeated_parameter': 'A parameter of the authorization request came more than once.',
    'authorization.client_id_missing': 'The authorization request has no client_id.',
    'authorization.redirect_uri_missing': 'The authorization request has no redirect_uri.',
    'authorization.scope_missing': 'The authorization request has no scope.',
    'authorization.response_type_missing': 'The authorization request has no response_type.',
    'authorization.response_type': 'The response_type is not code.',
    'authorization.state_too_long_or_not_utf8': 'The state has more than 2,048 bytes, or is not UTF-8.',
    'authorization.nonce_too_long_or_not_utf8': 'The nonce has more than 2,048 bytes, or is not UTF-8.',
    'authorization.request': 'The parameter request is not supported.',
    'authorization.request_uri': 'The parameter request_uri is not supported.',
    'authorization.response_mode': 'The response_mode is not query.',
    'authorization.prompt': 'The prompt has an unknown value, or combines none with another one.',
    'authorization.max_age': 'The max_age is not a whole number of seconds.',
    'authorization.id_token_hint_refused':
      'The id_token_hint is not an ID token of this issuer for this client.',
    'token.no_credentials': 'The token request has no client credentials that can be read.',
    'userinfo.no_token': 'The request has no access token in its header or form.',
  }),
  ...alike(
    'Send a challenge (S256) with each authorization request, and its verifier unchanged with the exchange.',
    {
      'authorization.pkce_challenge': `The code_challenge is not ${verifierForm}, or its method is neither S256 nor plain.`,
      'token.malformed_verifier': `The code_verifier is not ${verifierForm}. The code is not spent.`,
      'token.pkce_verifier':
        'The authorization request had a challenge and the exchange no verifier, or the reverse. The code is not spent.',
      'token.code_verifier': 'The code_verifier does not match the code_challenge. The code is not spent.',
    },
    undefined,
    'S5.flow',
  ),
  ...alike(
    'Ask for approved scopes alone, and in a refresh for granted ones.',
    {
      'authorization.unknown_scope': 'A scope is none of openid, email and profile.',
      'authorization.scope_not_approved': 'A scope of the request is not approved for the client.',
      'token.beyond_the_grant':
        'The refresh asked for a scope that is unknown, or beyond what the user granted.',
    },
    theClient,
    'S5.scope',
  ),
  ...alike(
    'Ask for openid in a new authorization flow.',
    { 'userinfo.scope': 'The access token was issued without openid, and opens nothing.' },
    theClient,
  ),
  ...alike(
    'Only the operator can change this.',
    {
      'authorization.inactive_client': inactive,
      'token.inactive_client': inactive,
      'token.no_approved_scope_is_left':
        'No scope that the request could get is approved for the client any more.',
      'authorization.scope_no_longer_approved':
        'A scope of the request lost its approval before the user decided.',
    },
    theChanges,
  ),
  ...alike(
    'Check client_id and issuer: test and production have different clients.',
    { 'authorization.unknown_client': noClient, 'token.unknown_client': noClient },
    'The registered clients: `partnerctl client list`.',
  ),
  ...alike(
    'Use the newest secret, or ask the operator for another one.',
    {
      'token.wrong_secret': 'The client secret is not valid: it is wrong, has expired or was retired.',
    },
    'The secrets and their last use: `partnerctl client secret list CLIENT`.',
  ),
  ...alike(
    'Send a registered one exactly: scheme, host, port, path, letter case and trailing slash.',
    {
      'authorization.redirect_uri_not_registered':
        'The redirect_uri is not registered for the client in this environment.',
    },
    theClient,
    'S5.redirect',
  ),
  ...alike(
    'Send the redirect_uri of the authorization request, character by character. The code is not spent.',
    { 'token.code_redirect_uri': 'The redirect_uri is not that of the authorization request.' },
    undefined,
    'S3.code.2',
  ),

  ...alike(
    'Start a flow without prompt=none.',
    {
      'authorization.prompt_none_login': 'prompt=none was sent, and the user has to log in.',
      'authorization.prompt_none_account': 'prompt=none was sent, and the user has to choose an account.',
      'authorization.prompt_none_consent': 'prompt=none was sent, and the user has to consent.',
    },
    usersDecision,
  ),
  ...alike(
    'Tell the user that nothing was connected, and offer to start again.',
    {
      'authorization.consent_denied': 'The user refused consent, or cancelled.',
      'authorization.another_user_than_the_hinted_one':
        'The user who logged in is not the one of id_token_hint.',
    },
    usersDecision,
  ),
  // A decision before may have connected the user.
  ...alike(
    'Offer to start again, unless this flow has connected the user already.',
    {
      'authorization.form_came_too_late':
        'The user submitted a page 30 minutes after the flow began, or when it had ended.',
      'authorization.form_of_another_browser':
        'A page was submitted by another browser, or without the cookies of the flow.',
      'authorization.decided_otherwise_before':
        'The user had decided otherwise in this flow, in another tab for instance.',
    },
    usersDecision,
  ),

  ...alike('Send it exactly as it was issued.', {
    'token.code_malformed': 'The code does not have the form of one of ours.',
    'token.refresh_token_malformed': 'The refresh token does not have the form of one of ours.',
    'userinfo.malformed': 'The access token does not have the form of one of ours.',
    'userinfo.signature': 'The signature of the access token does not fit: it was changed.',
  }),
  ...alike(
    'Send a code or token as the client that it was issued to, unchanged.',
    {
      'token.code_foreign': 'The code was issued to another client.',
      'token.code_forged': 'A part of the code was changed.',
      'token.refresh_token_foreign': 'The refresh token was issued to another client.',
    },
    theOthers,
  ),
  ...alike(
    'Exchange a code at once; now start a new authorization flow.',
    {
      'token.code_not_known':
        'The code is not known: never issued here, older than 5 minutes, or its grant has ended.',
    },
    theOthers,
  ),
  'token.code_replayed': {
    ...revocations.code_replayed,
    sentence: 'The code was used before.',
    partnerDoes: 'Exchange a code once; now start a new authorization flow.',
    since: (before) => `The code was used ${before}, and a code is good for one exchange.`,
  },
  'token.code_consent_withdrawn': revocations.consent_withdrawn,
  'token.code_user_disabled': revocations.user_disabled,
  'token.code_signed_out_by_operator': revocations.signed_out_by_operator,
  'token.code_user_deleted': revocations.user_deleted,

  ...alike(
    newFlow,
    {
      'token.refresh_token_not_known':
        'The refresh token is not known: never issued here, or ended more than seven days ago.',
      'token.refresh_token_expired': 'The refresh token has expired: it is valid for 30 days.',
    },
    theOthers,
  ),
  'token.refresh_token_superseded': revocations.superseded,
  'token.refresh_token_revoked': ended('The grant was revoked', theChanges),
  'token.refresh_token_reused': {
    sentence:
      'The refresh token was replaced more than one step ago, or was never one of this grant: start a new authorization flow.',
    duty: 'S5.lifetime',
    partnerDoes:
      'If you have newer tokens, keep them instead. Refresh one at a time, store the new token in one step, and send one again only after our 503, once.',
    operatorLooks: theOthers,
    since: (before) =>
      `The refresh token was replaced ${before}, by a request whose answer your backend may have lost. It is spent: start a new authorization flow.`,
  },
  'token.refresh_token_consent_withdrawn': revocations.consent_withdrawn,
  'token.refresh_token_user_disabled': revocations.user_disabled,
  'token.refresh_token_signed_out_by_operator': revocations.signed_out_by_operator,
  'token.refresh_token_user_deleted': revocations.user_deleted,

  ...alike(
    'Send the access token that the token endpoint answered.',
    {
      'userinfo.algorithm': 'The token is not one of our access tokens: often it is an ID token.',
      'userinfo.type': 'The token is not an access token.',
      'userinfo.issuer': 'The token is of another issuer.',
      'userinfo.audience': 'The token is for another audience.',
      'userinfo.use': 'The token is an ID token, which opens no API.',
    },
    undefined,
    'S5.api',
  ),
  ...alike(
    'Refresh once and send the new access token, or start a new authorization flow.',
    {
      'userinfo.expired': 'The access token has expired: it is valid for 15 minutes.',
      'userinfo.key': 'The key that signed the access token is not published any more, or not ours.',
      'userinfo.issued_later': 'By our clock the access token was issued in the future.',
    },
    'Keys and clocks: `partnerctl key list --all`, and the time of each machine.',
  ),
  'userinfo.subject': ended("The user's account was disabled or deleted"),
};

const ofNewerVersion: Entry = {
  sentence: 'The request was refused.',
  duty: '',
  partnerDoes: 'Wait for the answer of the operator.',
  operatorLooks: 'A newer version of identity gave this reason: ask again when the rollout has ended.',
};

export function explain(refusal: Omit<ListedRefusal, 'position'>) {
  const { endpoint, reason, at, clientId, user, earlier } = refusal;
  const known: Readonly<Record<string, Entry>> = entries;
  const revocation = reason === 'refresh_token_revoked' && earlier?.revoked;
  const entry = revocation ? revocations[revocation] : (known[`${endpoint}.${reason}`] ?? ofNewerVersion);
  const { since, duty, partnerDoes, operatorLooks } = entry;
  const sentence = earlier && since ? since(`${span(at - earlier.at)} earlier`) : entry.sentence;
  const looks = operatorLooks.replaceAll('CLIENT', clientId ?? 'CLIENT').replaceAll('USER', user ?? 'USER');
  return { sentence, duty, partnerDoes, operatorLooks: looks };
}
