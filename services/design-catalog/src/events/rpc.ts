// CatalogService: response bodies as bytes, in parts.
import type { CatalogService } from '@course-exchange/proto/catalog/v1';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import { designsJson, eventsJson, type ListDeps } from './list.ts';

/**
 * Small enough that other calls are answered meanwhile, and that the gateway's connections.ts sees a slow reader's
 * progress, from about 13 KB/s.
 */
export const bytesInPart = 256 * 1024;

export function catalogHandlers(deps: ListDeps): Handlers<typeof CatalogService> {
  return {
    listEvents: async function* (_request, { bearer }) {
      yield* partsOf(await eventsJson(deps, bearer));
    },
    listDesigns: async function* ({ eventId }, { bearer }) {
      yield* partsOf(await designsJson(deps, bearer, eventId));
    },
  };
}

function* partsOf(json: string): Generator<{ readonly body: Uint8Array }> {
  const body = Buffer.from(json);
  for (let start = 0; start < body.length; start += bytesInPart)
    yield { body: body.subarray(start, start + bytesInPart) };
}
