// RFC 3339 times as Postgres takes them: every one that passes here is one that table `designs` can hold.

const form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))$/;

/** `text` to the microsecond, finer parts cut off; undefined when it is no time in the years 1 to 9999. */
export function storedTime(text: string): string | undefined {
  const parts = form.exec(text);
  if (parts === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const [fraction, sign, hours, minutes] = parts.slice(7);
  if (!inRange(year, text, sign, Number(hours), Number(minutes))) return undefined;
  return fraction === undefined || fraction.length <= 6 ? text : text.replace(fraction, fraction.slice(0, 6));
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** An offset moves the time by up to a day, and so perhaps out of the years 1 to 9999. */
function inRange(
  year: number,
  text: string,
  sign: string | undefined,
  hours: number,
  minutes: number,
): boolean {
  if (sign === undefined) return year >= 1;
  // Postgres reads offsets below 16 hours.
  if (hours > 15 || minutes > 59) return false;
  if (year > 1 && year < 9999) return true;
  const utcYear = new Date(Date.parse(text)).getUTCFullYear();
  return utcYear >= 1 && utcYear <= 9999;
}
