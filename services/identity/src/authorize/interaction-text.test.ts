import { describe, expect, it } from 'vitest';
import type { ClientId, ConsentId, Sub } from '../ids.ts';
import { hashSecret } from '../secrets.ts';
import type { Interaction } from './interaction.ts';
import { readInteraction, writeInteraction } from './interaction-text.ts';

const subject = { sub: 'ada' as Sub, authTime: 1, origin: 'login' } as const;
const whole: Interaction = {
  ...{ id: 'i', cookieHash: hashSecret('cookie'), createdAt: 0, subject, wasSealed: true },
  holder: { sub: subject.sub, session: hashSecret('session') },
  accountConfirmed: true,
  request: {
    ...{ clientId: 'partner' as ClientId, redirectUri: 'https://partner.example/', scopes: ['openid'] },
    ...{ state: '\0\u001f "ü🐎', nonce: 'n', loginHint: '', uiLocales: 'de', prompts: ['consent'] },
    ...{ pkce: { challenge: 'c', method: 'S256' }, maxAge: 0, hintedSub: subject.sub },
  },
  decision: {
    kind: 'allowed',
    subject,
    consentId: 'c' as ConsentId,
    newConsent: true,
    completed: true,
    at: 2,
  },
};

describe.each(['utf8', 'base64url'] as const)('an interaction as %s', (encoding) => {
  const changed = (changes: object) =>
    JSON.stringify({ ...JSON.parse(writeInteraction(whole, encoding)), ...changes });

  it('comes back as it was', () => {
    const refused: Interaction = { ...whole, decision: { kind: 'refused', error: 'access_denied', at: 2 } };
    for (const one of [whole, refused])
      expect(readInteraction(writeInteraction(one, encoding), encoding)).toEqual(one);
  });

  it('is read as the previous version wrote it, and keeps the fields of the next', () => {
    expect(readInteraction(changed({ version: undefined }), encoding)).toEqual(whole);
    const next = changed({ later: 1, subject: { ...subject, later: 2 } });
    const read = readInteraction(next, encoding) as Interaction;
    expect(JSON.parse(writeInteraction(read, encoding))).toEqual(JSON.parse(next));
  });

  it.each([
    ['another version', { version: 2 }],
    ['an unknown decision', { decision: { kind: 'postponed', at: 2 } }],
    ['no request', { request: undefined }],
    ['an unknown prompt', { request: { ...whole.request, prompts: ['create'] } }],
  ])('is none with %s', (_name, changes) => {
    expect(readInteraction(changed(changes), encoding)).toBeUndefined();
  });

  it.each(['', 'spent', 'null', '[]'])('is none if it is %j', (text) => {
    expect(readInteraction(text, encoding)).toBeUndefined();
  });
});
