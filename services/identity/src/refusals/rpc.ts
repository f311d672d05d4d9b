// RefusalService: translation only.
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  Endpoint,
  type RefusalSchema,
  type RefusalService,
} from '@course-exchange/proto/operator/v1/refusal';
import { enumKey } from '@course-exchange/rules/enum-key';
import { pageLimit, readTime } from '@course-exchange/runtime/grpc/incoming-call';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import type { AdminContext } from '../admin/context.ts';
import { pageTokenOf, readPageToken, timestamps } from '../admin/messages.ts';
import { explain } from './explanation.ts';
import { findRefusals } from './records.ts';
import type { ListedRefusal, RefusalPage } from './refusal-table.ts';

export function createRefusalHandlers(
  context: Pick<AdminContext, 'database'>,
): Handlers<typeof RefusalService> {
  return {
    listRefusals: async ({ requestId, clientId, code, since, until, pageSize, pageToken }) => {
      const limit = pageLimit(pageSize);
      const named = { requestId: requestId || undefined, clientId: clientId || undefined };
      const filter = { ...named, code: code || undefined, since: readTime(since), until: readTime(until) };
      const { refusals, more } = await findRefusals(context, filter, {
        after: readPosition(pageToken),
        limit,
      });
      const last = more ? refusals.at(-1) : undefined;
      return {
        refusals: refusals.map(refusalMessage),
        nextPageToken: last ? pageTokenOf(last.at, last.position, last.clientAuthenticated) : '',
      };
    },
  };
}

function refusalMessage(refusal: ListedRefusal): MessageInitShape<typeof RefusalSchema> {
  const { requestId, at, endpoint, clientId, clientAuthenticated, code, reason, user, family, earlier } =
    refusal;
  return {
    ...{ requestId, clientAuthenticated, code, reason, ...timestamps({ at }) },
    endpoint: Endpoint[enumKey(endpoint)],
    clientId: clientId ?? '',
    user: user ?? '',
    family: family ?? '',
    ...explain(refusal),
    ...(earlier && { earlier: { requestId: earlier.requestId, ...timestamps({ at: earlier.at }) } }),
  };
}

const tokenForm = /^(\d{1,15})\|(\d{1,18})\|(true|false)$/;

function readPosition(token: string): RefusalPage['after'] {
  const [at, position, authenticated] = readPageToken(token, tokenForm);
  if (position === undefined) return undefined;
  return { at: Number(at), position, clientAuthenticated: authenticated === 'true' };
}
