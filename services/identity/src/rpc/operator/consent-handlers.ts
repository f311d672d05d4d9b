// ConsentService: translation only.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ConsentSchema, ConsentService } from '@course-exchange/proto/operator/v1/consent';
import { actorOf } from '@course-exchange/runtime/caller-name';
import { DetailedFailure } from '@course-exchange/runtime/failure';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import { findConsents, withdrawConsent } from '../../operator/consents/consents.ts';
import type { Desk } from '../../operator/desk.ts';
import type { RecordedConsent } from '../../store/postgres/recorded-consents.ts';
import { orderOf } from './caller.ts';
import { changeMessages } from './change-message.ts';
import { optional } from './client-message.ts';
import { accessTokensEnd } from './times.ts';
import { readUserName } from './user-handlers.ts';

const largestPage = 1_000;
const usualPage = 100;

export function createConsentHandlers(desk: Desk): Handlers<typeof ConsentService> {
  return {
    listConsents: async ({ user, clientId, includeWithdrawn, pageSize, pageToken }, call) => {
      actorOf(call);
      const limit = Math.min(pageSize || usualPage, largestPage);
      const consents = await findConsents(desk, {
        user: user === undefined ? undefined : readUserName(user),
        clientId: clientId === '' ? undefined : clientId,
        includeWithdrawn,
        after: readPageToken(pageToken),
        limit: limit + 1,
      });
      const shown = consents.slice(0, limit);
      const last = consents.length > limit ? shown.at(-1) : undefined;
      return { consents: shown.map(consentMessage), nextPageToken: last ? pageTokenOf(last) : '' };
    },
    withdrawConsent: async (request, call) => {
      const named = { user: readUserName(request.user), clientId: request.clientId };
      const { result, changes } = await withdrawConsent(desk, orderOf(call, request), named);
      const end = accessTokensEnd(desk.now());
      return {
        consent: consentMessage(result),
        changes: changeMessages(changes),
        ...(end ? { accessTokensEndAt: end } : {}),
      };
    },
  };
}

function consentMessage(consent: RecordedConsent): MessageInitShape<typeof ConsentSchema> {
  const { consentId, sub, clientId, scopes, grantedAt, extendedAt, withdrawnAt } = consent;
  return {
    ...{ consentId, sub, clientId, scopes: [...scopes] },
    ...optional('grantedAt', grantedAt),
    ...optional('extendedAt', extendedAt),
    ...optional('withdrawnAt', withdrawnAt),
  };
}

function pageTokenOf({ position, consentId }: RecordedConsent): string {
  return Buffer.from(`${position}|${consentId}`).toString('base64url');
}

const tokenForm = /^(\d{4,6}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00)\|([A-Za-z0-9_-]{1,64})$/;

function readPageToken(token: string) {
  if (token === '') return undefined;
  const [, position, consentId] = tokenForm.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (position === undefined || consentId === undefined)
    throw new DetailedFailure('invalid_argument', 'The page token is not one of ours.');
  return { position, consentId };
}
