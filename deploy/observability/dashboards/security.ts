// Security: guessing, replays and forgery; keys and the audit log.
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { catalogMetrics } from '../../../services/design-catalog/src/metrics.ts';
import { identityMetrics as identity } from '../../../services/identity/src/metrics.ts';
import { type DashboardSource, events, gauge, series } from '../panels.ts';

const keys = series(identity.signingKeyAge);
const activeKeys = series(identity.signingKeyAge, { state: 'active' });
const spent = { event: '=~code.refused|refresh_token.refused' };
const ended = { event: 'grant.revoked' };
const byPeople = { event: '=~session.+|consent.+' };

export const security: DashboardSource = {
  uid: 'course-exchange-security',
  title: 'Course exchange: security',
  about: 'Whether anybody guesses passwords, replays tokens or forges them; keys, secrets and the audit log.',
  rows: {
    'Is anybody guessing?': {
      Logins: [
        'By outcome, in 15 minutes.',
        events('event, reason', 'security_events', { event: '=~login.+' }),
      ],
      'Clients that fail to authenticate': [
        'By reason, in 15 minutes; the log names those that exist.',
        events('reason', 'security_events', { event: 'client_authentication.failed' }),
      ],
      'Access tokens refused': [
        'In 15 minutes. Expired ones are daily life; `signature`, `issuer` and `audience` are not.',
        events('reason', 'access_tokens_refused'),
      ],
    },
    'Is anybody replaying tokens?': {
      'Codes and refresh tokens refused': [
        'By client and reason, in 15 minutes.',
        events('client_id, event, reason', 'security_events', spent),
      ],
      'Grants that ended': [
        'In 15 minutes. A replayed code ends what came of it.',
        events('client_id, reason', 'security_events', ended),
      ],
      'Sessions and consent': [
        'What people do themselves, in 15 minutes.',
        events('event, reason', 'security_events', byPeople),
      ],
    },
    'Did the keys reach every pod, and is the audit log whole?': {
      'Signing keys': [
        'Pods of identity that know the key in this state: all lines of a state at the same height.',
        {
          ...gauge('count', 'state, algorithm, kid', keys),
          ...gauge('count', 'kid', series(catalogMetrics.verificationKeys), 'checked with'),
        },
      ],
      'Age of the active keys': [
        'They are replaced after 90 days.',
        gauge('max', 'algorithm, kid', activeKeys),
        's',
      ],
      'Audit log': [
        'Number of the newest entry: it never falls.',
        gauge('max', 'component', series(runtimeMetrics.auditSequence)),
      ],
    },
  },
};
