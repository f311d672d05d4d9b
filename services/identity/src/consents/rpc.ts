// ConsentService: translation only.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ConsentSchema, ConsentService } from '@course-exchange/proto/operator/v1/consent';
import { pageLimit } from '@course-exchange/runtime/grpc/incoming-call';
import { roleOf } from '@course-exchange/runtime/grpc/roles';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import {
  accessTokensEndAt,
  adminRequest,
  changeMessages,
  pageTokenOf,
  readPageToken,
  timestamps,
} from '../admin/messages.ts';
import { readUserName } from '../users/rpc.ts';
import { type ConsentContext, findConsents, withdrawConsent } from './admin.ts';
import type { ConsentRecord } from './consent.ts';

export function createConsentHandlers(context: ConsentContext): Handlers<typeof ConsentService> {
  return {
    listConsents: async ({ user, clientId, includeWithdrawn, pageSize, pageToken }, call) => {
      if (user?.name.case === 'email' && roleOf(call) === 'auditor')
        throw new DetailedFailure(
          'permission_denied',
          'An auditor names a user by sub, not by e-mail address.',
        );
      const limit = pageLimit(pageSize);
      const consents = await findConsents(context, {
        user: user === undefined ? undefined : readUserName(user),
        clientId: clientId === '' ? undefined : clientId,
        includeWithdrawn,
        after: readPosition(pageToken),
        limit: limit + 1,
      });
      const shown = consents.slice(0, limit);
      const last = consents.length > limit ? shown.at(-1) : undefined;
      return {
        consents: shown.map(consentMessage),
        nextPageToken: last ? pageTokenOf(last.position, last.consentId) : '',
      };
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

const tokenForm = /^(\d{4,6}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00)\|([A-Za-z0-9_-]{1,64})$/;

function readPosition(token: string) {
  const [position, consentId] = readPageToken(token, tokenForm);
  return position && consentId ? { position, consentId } : undefined;
}
