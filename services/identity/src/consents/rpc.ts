// ConsentService: translation only.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ConsentSchema, ConsentService } from '@course-exchange/proto/operator/v1/consent';
import { pageLimit } from '@course-exchange/runtime/grpc/incoming-call';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import type { AdminContext } from '../admin/context.ts';
import { accessTokensEndAt, adminRequest, changeMessages, timestamps } from '../admin/messages.ts';
import { readUserName } from '../users/rpc.ts';
import { findConsents, withdrawConsent } from './admin.ts';
import type { ConsentRecord } from './consent.ts';

export function createConsentHandlers(context: AdminContext): Handlers<typeof ConsentService> {
  return {
    listConsents: async ({ user, clientId, includeWithdrawn, pageSize, pageToken }) => {
      const limit = pageLimit(pageSize);
      const consents = await findConsents(context, {
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
      const { result, changes } = await withdrawConsent(context, adminRequest(call, request), named);
      return {
        consent: consentMessage(result),
        changes: changeMessages(changes),
        ...accessTokensEndAt(context.now()),
      };
    },
  };
}

function consentMessage(consent: ConsentRecord): MessageInitShape<typeof ConsentSchema> {
  const { scopes, grantedAt, extendedAt, withdrawnAt, ...texts } = consent;
  return {
    ...texts,
    scopes: [...scopes],
    ...timestamps({ grantedAt, extendedAt, withdrawnAt }),
  };
}

function pageTokenOf({ position, consentId }: ConsentRecord): string {
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
