// Cases of the alerts about keys and client secrets.
import { series } from '@course-exchange/observability/promql';
import { catalogMetrics } from '../../services/design-catalog/src/metrics.ts';
import { identityMetrics } from '../../services/identity/src/metrics.ts';
import { alive, of, type RuleCase } from './rule-case.ts';

const day = 86_400;
const key = (instance: string, kid: string, state = 'active') =>
  of(instance, series(identityMetrics.signingKeyAge, { kid, algorithm: 'ES256', state }));
const catalogKey = (instance: string, kid: string) =>
  of(instance, series(catalogMetrics.verificationKeys, { kid }));
const secret = (secret_id: string) => series(identityMetrics.secretExpiry, { client_id: 'acme', secret_id });

export const keyCases: Readonly<Record<string, readonly RuleCase[]>> = {
  CourseExchangeSigningKeyOld: [
    {
      severity: 'warning',
      fires: { [key('one', 'old')]: `${101 * day}+60x70` },
      quiet: {
        [key('one', 'old')]: `${91 * day}+60x70`,
        [key('one', 'older', 'superseded')]: `${200 * day}x70`,
      },
    },
  ],
  CourseExchangeSigningKeyNotEverywhere: [
    {
      severity: 'critical',
      // A pod of identity still signs with the old one.
      fires: {
        [key('one', 'new')]: '60x60',
        [key('two', 'old')]: '60x60',
        [catalogKey('three', 'old')]: '1x60',
      },
      quiet: {
        [key('one', 'new')]: '60x60',
        [key('two', 'new')]: '60x60',
        [catalogKey('three', 'new')]: '1x60',
      },
    },
    {
      severity: 'critical',
      // A pod of the catalog lacks the key.
      fires: {
        [key('one', 'new')]: '60x60',
        [catalogKey('three', 'new')]: '1x60',
        [catalogKey('four', 'old')]: '1x60',
      },
      quiet: {
        [key('one', 'new')]: '60x60',
        [catalogKey('three', 'new')]: '1x60',
        // For a minute only.
        [catalogKey('four', 'old')]: '1x20 _x40',
        [catalogKey('four', 'new')]: '_x20 1x40',
      },
    },
    {
      severity: 'critical',
      // The whole catalog does.
      fires: { [key('one', 'new')]: '60x60', [catalogKey('three', 'old')]: '1x60' },
      quiet: {
        [key('one', 'new')]: '60x60',
        [key('one', 'rsa')]: '60x60',
        [catalogKey('three', 'new')]: '1x60',
      },
    },
    {
      severity: 'critical',
      // A pod of the catalog has no key at all.
      fires: {
        [alive('identity', 'one')]: '0x60',
        [alive('design-catalog', 'three')]: '0x60',
        [alive('design-catalog', 'four')]: '0x60',
        [key('one', 'new')]: '60x60',
        [catalogKey('three', 'new')]: '1x60',
      },
      alerts: [{ component: 'design-catalog', instance: 'four', job: 'course-exchange' }],
      // Identity is down, or not scraped: another alert says so.
      quiet: {
        [alive('design-catalog', 'three')]: '0x60',
        [catalogKey('three', 'new')]: '1x60',
      },
    },
  ],
  CourseExchangeClientSecretExpires: [
    {
      severity: 'warning',
      fires: { [secret('one')]: `${13 * day}x60` },
      // Another one stays.
      quiet: { [secret('one')]: `${13 * day}x60`, [secret('two')]: Array(60).fill('Inf').join(' ') },
    },
    {
      severity: 'critical',
      fires: { [secret('one')]: `${1 * day}x60` },
      quiet: { [secret('one')]: `${13 * day}x60` },
    },
    {
      severity: 'critical',
      // It has expired.
      fires: { [secret('one')]: `-${day}x60` },
      quiet: { [secret('one')]: `${13 * day}x60` },
    },
  ],
};
