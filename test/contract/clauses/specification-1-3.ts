// Specification §1–§3: what the service does, its resources, and the life of codes and tokens.
import type { ClauseSection } from './clause.ts';

export const purpose: ClauseSection = {
  title: 'Specification, opening and §1',
  outside: {
    'S0.1':
      'Every other address (authorization, token, user-info, key set) comes from the discovery document.',
    'S1.1':
      'A partner backend acting for one authenticated user reads that user’s designs, grouped in Events.',
    'S1.2': 'Identity provider: authorization-code grant with refresh tokens for confidential clients.',
    'S1.3': 'Read-only: no create, update, delete or upload operation.',
    'S1.4': 'No self-service registration and no dynamic client registration.',
    'S1.5': 'Confidential clients only: every token request needs the client secret.',
    'S1.6': 'Answers carry summaries only: no geometry, files, links, team, profile or payment data.',
    'S1.7': 'No lookup of a single design by its design id.',
    'S1.8': 'Another user’s designs are not exposed.',
    'S1.9': 'Deleted designs are not exposed.',
    'S1.10': 'No client-specific filtering: two clients of one user see the same.',
  },
  inside: {},
  apart: [
    ['Registration, production access and consent withdrawal are arranged manually.', 'binds the operator'],
    ['The operator hands over identifier, secret, URIs and scopes securely.', 'binds the operator'],
    ['The service is deployed for approved, coordinated partner clients only.', 'binds the operator'],
    ['A summary must not be presented as a printable or editable course design.', 'binds partner clients'],
    ['Registration prerequisites a partner supplies.', 'binds partners before registration'],
  ],
};

export const resources: ClauseSection = {
  title: 'Specification §2, resources and records',
  outside: {
    'S2.event.1':
      'EventSummary has exactly id, name, startDate, endDate, updatedAt, designCount with their types.',
    'S2.event.2': 'EventSummary id is copied unchanged into the design-list path and works there.',
    'S2.event.3': 'startDate, endDate and updatedAt may be null; id, name and designCount never are.',
    'S2.event.4': 'Events are assembled from the authenticated user’s non-deleted designs.',
    'S2.event.5': 'Designs without an Event identifier are omitted.',
    'S2.design.1': 'DesignSummary has exactly the nine fields of the table with their types.',
    'S2.design.2': 'localId, eventDate, updatedAt and authorName may be null; the other fields never are.',
    'S2.design.3': 'DesignSummary eventId equals the Event id.',
    'S2.rule.1': 'Dates are ISO 8601 strings in UTC when present.',
    'S2.rule.2': 'Only non-deleted designs owned by the user of the token’s sub appear.',
    'S2.token.1':
      'ID token claims: iss, sub, aud (client id), email, email_verified, name, token_use id_token, iat, exp, nonce.',
    'S2.token.2':
      'Access token: signed JWT, audience design-api, token_use access_token, sub, granted scopes.',
    'S2.token.3': 'User-info response: sub, email, email_verified, name.',
  },
  inside: {},
  apart: [
    ['Clients must accept null for every nullable field.', 'binds partner clients'],
    ['Do not infer the id’s format or generate it.', 'binds partner clients'],
    ['Ordering of items is current behaviour and no guaranteed contract.', 'grants a freedom, binds nobody'],
  ],
};

export const lifecycle: ClauseSection = {
  title: 'Specification §3, states and transitions',
  outside: {
    'S3.1': 'No lifecycle of Events or designs beyond deleted and non-deleted.',
    'S3.code.1': 'Successful authorization issues a code as `code` in the redirect.',
    'S3.code.2':
      'A code with correct client, identical redirect_uri and matching verifier is consumed and yields tokens.',
    'S3.code.3': 'The code grant returns access, refresh and (only with openid granted) ID token.',
    'S3.code.4': 'After 5 minutes a code is unusable: invalid_grant.',
    'S3.code.5': 'A second use of a code: invalid_grant.',
    'S3.refresh.1': 'A refresh consumes the token and returns a new access and a new refresh token.',
    'S3.refresh.2': 'A refresh returns no new ID token.',
    'S3.refresh.3': 'Each refresh starts a fresh 30-day validity (rolling).',
    'S3.refresh.4': 'Reuse of a consumed refresh token: invalid_grant, and it remains unusable.',
    'S3.refresh.5': 'Reuse invalidates no other token of the family.',
    'S3.access.1': 'An access token is valid for 15 minutes and expired afterwards.',
    'S3.access.2': 'An access token is accepted until expiry even after local logout or disconnect.',
  },
  inside: {
    'S3.refresh.6': 'The old refresh token is consumed before its replacement is returned.',
  },
  apart: [
    ['After a lost response a client must not retry with the old token.', 'binds partner clients'],
    ['Concurrent refreshes for one session carry the same risk.', 'a warning to partner clients'],
  ],
};
