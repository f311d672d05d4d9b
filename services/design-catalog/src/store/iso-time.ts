// Turns Postgres's text of a time into the public form (R23). The connection's time zone is UTC, its date
// style ISO, and the schema keeps years to four digits: `2026-05-01 09:30:00.25+00`.

/** ISO 8601, UTC, `Z`, milliseconds; smaller parts are cut off. */
export function isoTime(text: string): string {
  if (text[10] !== ' ' || !text.endsWith('+00')) throw new Error('a time in another form than expected');
  const second = `${text.slice(0, 10)}T${text.slice(11, 19)}`;
  return text.length === 22
    ? `${second}.000Z`
    : `${second}.${text.slice(20, -3).slice(0, 3).padEnd(3, '0')}Z`;
}

/** Undefined for null. */
export function optionalIsoTime(text: string | null): string | undefined {
  return text === null ? undefined : isoTime(text);
}
