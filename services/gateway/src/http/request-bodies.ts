// Reads request bodies, bounded each and in total. Every body is a form.
import type { IncomingMessage } from 'node:http';
import { Failure, Overloaded } from '@course-exchange/runtime/process/errors';
import { fairCapacity } from './fair-capacity.ts';

const longestBody = 64 * 1024;
/** Bytes of all requests together, beyond `alwaysFree` of each. */
const capacity = 32 * 1024 * 1024;
const alwaysFree = 8 * 1024;
const countedOf = (size: number): number => Math.max(0, size - alwaysFree);

export type BodyReader = ReturnType<typeof createBodyReader>;

export function createBodyReader() {
  const bytes = fairCapacity(capacity);
  /**
   * Resolves with the text and a `release` to call once. Throws `invalid_request` over 64 KiB or when it breaks off,
   * `Overloaded` at capacity.
   */
  return async (raw: IncomingMessage, network: string) => {
    // One buffer: each chunk kept would cost some hundred bytes more.
    let body = Buffer.alloc(0);
    let length = 0;
    const release = (): void => bytes.release(network, countedOf(body.length));
    const grow = (needed: number): void => {
      if (needed > longestBody) throw new Failure('invalid_request', 'body too large');
      const size = Math.min(longestBody, 2 * needed);
      const more = countedOf(size) - countedOf(body.length);
      if (more > 0 && !bytes.acquire(network, more)) throw new Overloaded('request_bytes_at_capacity');
      body = Buffer.concat([body], size);
    };
    try {
      for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
        if (length + chunk.length > body.length) grow(length + chunk.length);
        length += chunk.copy(body, length);
      }
    } catch (error) {
      release();
      // Drained, so that the client reads the answer; requestTimeout bounds it.
      raw.resume();
      throw error instanceof Failure ? error : new Failure('invalid_request', 'body broke off');
    }
    return { text: body.toString('utf8', 0, length), release };
  };
}
