// Times and durations between the wire and the domain's milliseconds: translation only.
import { type Duration, type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { tokenLifetime } from '../../domain/signing-algorithm.ts';

export function timestamp(milliseconds: number | null | undefined): Timestamp | undefined {
  return milliseconds == null ? undefined : timestampFromMs(Math.round(milliseconds));
}

/** Milliseconds; null when absent. */
export function durationMs(duration: Duration | undefined): number | null {
  return duration ? Number(duration.seconds) * 1000 + Math.floor(duration.nanos / 1e6) : null;
}

/** When the last access token issued up to `now` has expired. */
export function accessTokensEnd(now: number): Timestamp | undefined {
  return timestamp(now + tokenLifetime * 1000);
}
