// Times from outside, for feed, tools and calls: one form, which JavaScript, Postgres and protobuf read alike.

/** Milliseconds since the epoch: the years 1 to 9999, as ISO 8601 and `google.protobuf.Timestamp`. */
export const firstTime = Date.parse('0001-01-01T00:00:00Z');
export const lastTime = Date.parse('9999-12-31T23:59:59.999Z');

export function isTime(milliseconds: number): boolean {
  return milliseconds >= firstTime && milliseconds <= lastTime;
}

/** RFC 3339 without leap seconds. */
const timeFormat = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** In UTC, to the microsecond; undefined if it is no time or, in UTC, not in the years 1 to 9999. */
export function storedTime(text: string): string | undefined {
  const [, written = '', fraction = '', offset = ''] = timeFormat.exec(text) ?? [];
  if (!isInCalendar(written)) return undefined;
  const time = Date.parse(written + offset);
  return isTime(time) ? `${secondsText(time)}${fraction.slice(0, 7)}Z` : undefined;
}

/** Date.parse takes February 30 and 24:00 for the day after. */
function isInCalendar(written: string): boolean {
  const time = Date.parse(`${written}Z`);
  return !Number.isNaN(time) && secondsText(time) === written;
}

function secondsText(time: number): string {
  return new Date(time).toISOString().slice(0, 19);
}
