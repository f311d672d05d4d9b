import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tokenRefusals } from '@course-exchange/rules/token-verification';
import { expect, test } from 'vitest';
import type { ClientId } from '../ids.ts';
import { securityEvents } from '../security-events.ts';
import { explain } from './explanation.ts';
import { refusalCodes } from './reasons.ts';

const reasons = {
  token: [
    ...Object.keys(refusalCodes.token),
    ...securityEvents['client_authentication.failed'],
    ...securityEvents['code.refused'].map((reason) => `code_${reason}`),
    ...[...securityEvents['refresh_token.refused'], 'superseded'].map((reason) => `refresh_token_${reason}`),
  ],
  authorization: Object.keys(refusalCodes.authorization),
  userinfo: tokenRefusals,
};
const all = (['token', 'authorization', 'userinfo'] as const).flatMap((endpoint) =>
  reasons[endpoint].map((reason) => ({ endpoint, reason })),
);

test('a reason is an identifier', () => {
  for (const { reason } of all) expect(reason).toMatch(/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/);
});

const at = Date.parse('2026-11-20T12:00:00Z');

type Explained = Parameters<typeof explain>[0];

function record(reason: string, more: Partial<Explained> = {}): Explained {
  return {
    requestId: 'request-1',
    at,
    endpoint: 'token',
    clientId: 'acme' as ClientId,
    clientAuthenticated: true,
    code: 'invalid_grant',
    reason,
    user: 'hash-of-user',
    family: undefined,
    earlier: undefined,
    ...more,
  };
}

const earlier = (before: number, revoked?: 'code_replayed' | 'consent_withdrawn') => ({
  earlier: { requestId: 'request-0', at: at - before, revoked },
});

const specification = readFileSync(join(import.meta.dirname, '../../../../docs/specification.md'), 'utf8');

test.each(all)('$endpoint.$reason is explained, for the partner without a word of ours', (named) => {
  for (const more of [{}, earlier(4_200), earlier(4_200, 'code_replayed')]) {
    const { sentence, duty, partnerDoes, operatorLooks } = explain({ ...record('', more), ...named });
    expect(operatorLooks).not.toContain('A newer version');
    for (const text of [sentence, partnerDoes]) {
      expect(text).toMatch(/^[A-Zp][^\n]+\.$/);
      expect(text).not.toMatch(
        /partnerctl|Redis|Postgres|identity|gateway|family|Ask the operator\.|CLIENT|USER|\bpod/,
      );
    }
    expect(operatorLooks).toMatch(/^[A-Z].+\.$/);
    expect(operatorLooks).not.toMatch(/CLIENT|USER/);
    if (duty) expect(specification).toMatch(new RegExp(`id="${duty.replaceAll('.', '\\.')}[".]`));
  }
});

test('a replaced refresh token names how long before, and the duty', () => {
  const reused = record('refresh_token_reused', earlier(4_234));
  expect(explain(reused)).toEqual({
    sentence:
      'The refresh token was replaced 4.2 s earlier, by a request whose answer your backend may have lost. It is spent: start a new authorization flow.',
    duty: 'S5.lifetime',
    partnerDoes:
      'If you have newer tokens, keep them instead. Refresh one at a time, store the new token in one step, and send one again only after our 503, once.',
    operatorLooks: 'Whether there are more: `partnerctl refusals list --client acme --since 7d`.',
  });
  expect(explain(record('refresh_token_reused')).sentence).toContain(
    'replaced more than one step ago, or was never one of this grant',
  );
});

test.each(['form_came_too_late', 'form_of_another_browser', 'decided_otherwise_before'])(
  '"%s" does not say that nothing was connected: an earlier decision may have allowed it',
  (reason) => {
    expect(explain(record(reason, { endpoint: 'authorization' })).partnerDoes).not.toContain(
      'nothing was connected',
    );
  },
);

test.each([
  [-300, 'less than 0.1 s'],
  [99, 'less than 0.1 s'],
  [100, '0.1 s'],
  [119_900, '119.9 s'],
  [120_000, '2 minutes'],
  [7_199_999, '119 minutes'],
  [7_200_000, '2 hours'],
  [172_799_999, '47 hours'],
  [172_800_000, '2 days'],
])('%i ms before is %s earlier', (before, text) => {
  const { sentence } = explain(record('code_replayed', earlier(before)));
  expect(sentence).toBe(`The code was used ${text} earlier, and a code is good for one exchange.`);
});

test('a revoked grant is explained by what revoked it', () => {
  const revoked = (more?: Partial<Explained>) => explain(record('refresh_token_revoked', more));
  expect(revoked(earlier(3_000, 'code_replayed'))).toMatchObject({
    sentence:
      'The authorization code was sent a second time 3.0 s earlier: no refresh token of this grant is valid any more.',
    duty: 'S5.flow.2',
  });
  expect(revoked(earlier(3_000, 'consent_withdrawn'))).toMatchObject({
    sentence:
      "The user's consent was withdrawn 3.0 s earlier: no refresh token of this grant is valid any more.",
    duty: '',
    operatorLooks: 'Who withdrew it: `partnerctl audit list --client acme --action consent.withdraw`.',
  });
  expect(revoked().sentence).toBe('The grant was revoked: no refresh token of this grant is valid any more.');
});

test('the user to look at is the record’s; an unknown client or user stays a word to fill in', () => {
  const disabled = (more = {}) => explain(record('subject', { endpoint: 'userinfo', ...more }));
  const looks = 'user show --hash hash-of-user`. Who changed it: `partnerctl audit list --object user:SUB`';
  expect(disabled().operatorLooks).toContain(looks);
  expect(disabled({ user: undefined }).operatorLooks).toContain('--hash USER');
});

test('a reason of a newer version has a text', () => {
  const { sentence, operatorLooks } = explain(record('of_tomorrow'));
  expect(sentence).toBe('The request was refused.');
  expect(operatorLooks).toContain('A newer version');
});
