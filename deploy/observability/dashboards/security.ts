// Security: whether anybody guesses, replays or forges; keys and the audit log.
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { catalogMetrics } from '../../../services/design-catalog/src/metrics.ts';
import { identityMetrics as identity } from '../../../services/identity/src/metrics.ts';
import { type DashboardSource, events, series } from '../panels.ts';

const { auditSequence } = runtimeMetrics;
const perEvent = '{{event}} {{reason}}';

export const security: DashboardSource = {
  uid: 'course-exchange-security',
  title: 'Course exchange: security',
  about: 'Whether anybody guesses passwords, replays tokens or forges them; keys, secrets and the audit log.',
  rows: {
    'Is anybody guessing?': [
      {
        title: 'Logins',
        about: 'By outcome, in 15 minutes.',
        unit: 'short',
        queries: {
          [perEvent]: events('event, reason', 'security_events', { event: '=~login.+' }),
        },
      },
      {
        title: 'Clients that are not proven',
        about: 'By reason, in 15 minutes; the log names those that exist.',
        unit: 'short',
        queries: {
          '{{reason}}': events('reason', 'security_events', { event: 'client_authentication.failed' }),
        },
      },
      {
        title: 'Access tokens refused',
        about: 'In 15 minutes. Expired ones are daily life; `signature`, `issuer` and `audience` are not.',
        unit: 'short',
        queries: { '{{reason}}': events('reason', 'access_tokens_refused') },
      },
    ],
    'Is anybody replaying tokens?': [
      {
        title: 'Codes and refresh tokens refused',
        about: 'By client and reason, in 15 minutes.',
        unit: 'short',
        queries: {
          '{{client_id}} {{event}} {{reason}}': events('client_id, event, reason', 'security_events', {
            event: '=~code.refused|refresh_token.refused',
          }),
        },
      },
      {
        title: 'Grants that ended',
        about: 'In 15 minutes. A replayed code ends what came of it.',
        unit: 'short',
        queries: {
          '{{client_id}} {{reason}}': events('client_id, reason', 'security_events', {
            event: 'grant.revoked',
          }),
        },
      },
      {
        title: 'Sessions and consent',
        about: 'What people do themselves, in 15 minutes.',
        unit: 'short',
        queries: {
          [perEvent]: events('event, reason', 'security_events', { event: '=~session.+|consent.+' }),
        },
      },
    ],
    'Did the keys reach every pod, and is the audit log whole?': [
      {
        title: 'Signing keys',
        about: 'Pods of identity that know the key in this state: all lines of a state at the same height.',
        unit: 'short',
        queries: {
          '{{state}} {{algorithm}} {{kid}}': `count by (state, algorithm, kid) (${series(identity.signingKeyAge)})`,
          'checked with {{kid}}': `count by (kid) (${series(catalogMetrics.verificationKeys)})`,
        },
      },
      {
        title: 'Age of the active keys',
        about: 'They are replaced after 90 days.',
        unit: 's',
        queries: {
          '{{algorithm}} {{kid}}': `max by (algorithm, kid) (${series(identity.signingKeyAge, { state: 'active' })})`,
        },
      },
      {
        title: 'Audit log',
        about: 'Number of the newest entry: it never falls.',
        unit: 'short',
        queries: { '{{component}}': `max by (component) (${series(auditSequence)})` },
      },
    ],
  },
};
