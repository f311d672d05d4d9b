// One partner: what its client asks, what it is refused and why, and how it keeps its duties.
import { gatewayMetrics } from '../../../services/gateway/src/metrics.ts';
import { identityMetrics as identity } from '../../../services/identity/src/metrics.ts';
import { recent } from '../events.ts';
import { chosen, type DashboardSource, events, gauge, rate, series } from '../panels.ts';

const { clientRequests } = gatewayMetrics;
const client_id = '=~$client_id';
const asked = (matchers: Parameters<typeof recent<'client_requests'>>[1] = {}) =>
  `sum by (job) (${recent('client_requests', { client_id, ...matchers }, chosen)})`;
const refusedForOverload = asked({ 'error.type': 'temporarily_unavailable' });
const breaches =
  '=~pkce_plain|.+_absent|code_replayed|token_reused|token_repeated|refresh_concurrent|scope_exceeded';
const secrets = `${series(identity.secretExpiry, { client_id })} < Inf`;

export const partner: DashboardSource = {
  uid: 'course-exchange-partner',
  title: 'Course exchange: one partner',
  about: 'What one client asks, what it is refused and why, and how it keeps its duties.',
  variables: { client_id: clientRequests },
  rows: {
    'What does it ask, and what is the answer?': {
      'Answers by route': [
        'Requests with the client’s secret or tokens.',
        rate('http_route', series(clientRequests, { client_id })),
        'reqps',
      ],
      'Errors by route and code': [
        'As the partner sees them, in 15 minutes.',
        events('http_route, error_type', 'client_requests', { client_id, 'error.type': '!=' }),
      ],
      'Tokens issued': [
        'By grant.',
        rate('grant_type', series(identity.tokensIssued, { client_id })),
        'reqps',
      ],
    },
    'Why is it refused?': {
      'Token requests refused': [
        'By the reason, which the partner does not see, in 15 minutes.',
        events('error_type, reason', 'tokens_refused', { client_id }),
      ],
      'Authorization requests refused': [
        'Those that name it, in 15 minutes: no client is authenticated there. `consent_denied`, and what is asked with `prompt=none`, is no mistake.',
        events('error_type, reason', 'authorizations_refused', { client_id }),
      ],
      'Access tokens refused': [
        'The client’s tokens, by what is wrong with them, in 15 minutes.',
        events('reason', 'access_tokens_refused', { client_id }),
      ],
      'Grants that ended': [
        'Before their time, and why, in 15 minutes.',
        events('reason', 'security_events', { event: 'grant.revoked', client_id }),
      ],
      Consent: [
        'Pages shown, given, denied, withdrawn, in 15 minutes.',
        {
          ...events('client_id', 'consents_shown', { client_id }, 'shown to users of'),
          ...events('event', 'security_events', { event: '=~consent.+', client_id }),
        },
      ],
    },
    'Does it keep its duties?': {
      'Duties broken': [
        'In 15 minutes, as `partnerctl client conduct` names them. A client that keeps its duties has none.',
        events('act', 'client_acts', { act: breaches, client_id }),
      ],
      'Requests and codes': [
        'In 15 minutes: authorization requests that name it, codes that it redeemed, refreshes.',
        events('act', 'client_acts', {
          act: '=~authorization_request|code_redeemed|token_refreshed',
          client_id,
        }),
      ],
      'Refused for overload, or timed out': [
        'Share of its requests that got `temporarily_unavailable`.',
        { share: `(${refusedForOverload} or 0 * ${asked()}) / ${asked()}` },
        'percentunit',
      ],
      'Its secrets expire in': [
        'One that stays is not drawn; below 0 the last one has expired.',
        gauge('max', 'secret_id', secrets),
        's',
      ],
    },
  },
};
