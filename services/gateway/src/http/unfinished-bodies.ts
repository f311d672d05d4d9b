// Bodies of requests whose turn has not come: how many bytes the process keeps of them. Every body here is a form.
import type { IncomingMessage } from 'node:http';
import { Failure, Overloaded } from '@course-exchange/runtime/process/errors';

const longestBody = 64 * 1024;

/** Of all requests together, beyond what each may always have: 8,192 connections of 64 KiB would be a pod's memory. */
const maxUnfinishedBytes = 32 * 1024 * 1024;

/** Longer than a token request or an ordinary login: whoever fills the bound keeps only long forms from others. */
const bytesOfRight = 8 * 1024;

/**
 * The body as UTF-8 text, read once, when its turn has come. Fails with `invalid_request` when it is over 64 KiB or breaks
 * off, with `Overloaded` when there is no room, and as `turn` does.
 */
export type ReadBody = (raw: IncomingMessage, turn: (body: string) => Promise<void>) => Promise<string>;

export function limitUnfinishedBodies(): ReadBody {
  let unfinished = 0;
  return async (raw, turn) => {
    let [size, counted] = [0, 0];
    /** Counts the bytes that a buffer of `next` bytes takes in the place of the one before. */
    const resize = (next: number): void => {
      const more = Math.max(0, next - bytesOfRight) - counted;
      if (more > 0 && unfinished + more > maxUnfinishedBytes)
        throw new Overloaded('too many bytes of requests have not ended');
      unfinished += more;
      counted += more;
      size = next;
    };
    try {
      const body = await readBody(raw, (length) => {
        if (length > longestBody) throw new Failure('invalid_request', 'body too large');
        if (length > size) resize(Math.min(longestBody, 2 * length));
        return size;
      });
      await turn(body);
      return body;
    } finally {
      unfinished -= counted;
    }
  };
}

/** `sizeFor` returns the size of the buffer for so many bytes, or throws. */
function readBody(raw: IncomingMessage, sizeFor: (length: number) => number): Promise<string> {
  return new Promise((resolve, reject) => {
    // One buffer: a chunk of one byte that is kept costs four hundred.
    let body = Buffer.alloc(0);
    let length = 0;
    const keep = (chunk: Buffer): void => {
      try {
        const size = sizeFor(length + chunk.length);
        if (size > body.length) body = Buffer.concat([body], size);
        length += chunk.copy(body, length);
      } catch (error) {
        // The rest flows away unread, so that the client gets to read the answer; requestTimeout bounds it.
        raw.off('data', keep).resume();
        body = Buffer.alloc(0);
        reject(error);
      }
    };
    const broken = (): void => reject(new Failure('invalid_request', 'body broke off'));
    raw.on('data', keep).once('error', broken).once('close', broken);
    raw.once('end', () => {
      // Every request closes in the end: an error with its stack must not be made for each.
      raw.off('close', broken);
      resolve(body.toString('utf8', 0, length));
    });
  });
}
