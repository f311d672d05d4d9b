// One partner: what its client asks, what it is refused and why, and how it keeps its duties.
import { gatewayMetrics } from '../../../services/gateway/src/metrics.ts';
import { identityMetrics as identity } from '../../../services/identity/src/metrics.ts';
import { type DashboardSource, events, rate, series } from '../panels.ts';

const { clientRequests } = gatewayMetrics;
const perRoute = '{{http_route}}';
const perEvent = '{{event}} {{reason}}';
const client = '=~$client_id';
const all = events('job', 'client_requests', { client_id: client });
const refusedForOverload = events('job', 'client_requests', {
  client_id: client,
  'error.type': 'temporarily_unavailable',
});

export const partner: DashboardSource = {
  uid: 'course-exchange-partner',
  title: 'Course exchange: one partner',
  about: 'What one client asks, what it is refused and why, and how it keeps its duties.',
  variables: { client_id: clientRequests },
  rows: {
    'What does it ask, and what is it told?': [
      {
        title: 'Answers by route',
        about: 'Requests with a secret or token of its own.',
        unit: 'reqps',
        queries: {
          [perRoute]: `sum by (http_route) (${rate(series(clientRequests, { client_id: client }))})`,
        },
      },
      {
        title: 'Errors by route and code',
        about: 'As the partner sees them, in 15 minutes.',
        unit: 'short',
        queries: {
          '{{http_route}} {{error_type}}': events('http_route, error_type', 'client_requests', {
            client_id: client,
            'error.type': '!=',
          }),
        },
      },
      {
        title: 'Tokens issued',
        about: 'By grant.',
        unit: 'reqps',
        queries: {
          '{{grant_type}}': `sum by (grant_type) (${rate(series(identity.tokensIssued, { client_id: client }))})`,
        },
      },
    ],
    'Why is it refused?': [
      {
        title: 'Token requests refused',
        about: 'By the reason that the partner is not told, in 15 minutes.',
        unit: 'short',
        queries: {
          '{{error_type}} {{reason}}': events('error_type, reason', 'tokens_refused', { client_id: client }),
        },
      },
      {
        title: 'Authorization requests refused',
        about:
          'Those that name it, in 15 minutes: nobody has proven to be it. `consent.denied`, and what is asked with `prompt=none`, is no mistake.',
        unit: 'short',
        queries: {
          '{{error_type}} {{reason}}': events('error_type, reason', 'authorizations_refused', {
            client_id: client,
          }),
        },
      },
      {
        title: 'Access tokens refused',
        about: 'Tokens of its own, by what is wrong with them, in 15 minutes.',
        unit: 'short',
        queries: { '{{reason}}': events('reason', 'access_tokens_refused', { client_id: client }) },
      },
      {
        title: 'Grants that ended',
        about: 'Before their time, and why, in 15 minutes.',
        unit: 'short',
        queries: {
          '{{reason}}': events('reason', 'security_events', { event: 'grant.revoked', client_id: client }),
        },
      },
      {
        title: 'Consent',
        about: 'Pages shown, given, denied, withdrawn, in 15 minutes.',
        unit: 'short',
        queries: {
          shown: events('client_id', 'consents_shown', { client_id: client }),
          '{{event}}': events('event', 'security_events', { event: '=~consent.+', client_id: client }),
        },
      },
    ],
    'Does it keep its duties?': [
      {
        title: 'Tokens used again',
        about: 'In 15 minutes. A client that stores each new token and sends it once has none.',
        unit: 'short',
        queries: {
          [perEvent]: events('event, reason', 'security_events', {
            event: '=~code.refused|refresh_token.refused',
            reason: '=~replayed|reused',
            client_id: client,
          }),
        },
      },
      {
        title: 'Refused for overload, or late',
        about: 'Share of its requests told to come again later.',
        unit: 'percentunit',
        queries: {
          share: `(${refusedForOverload} or 0 * ${all}) / ${all}`,
        },
      },
      {
        title: 'Its secrets expire in',
        about: 'One that stays is not drawn; below 0 the last one has expired.',
        unit: 's',
        queries: {
          '{{secret_id}}': `max by (secret_id) (${series(identity.secretExpiry, { client_id: client })} < Inf)`,
        },
      },
    ],
  },
};
