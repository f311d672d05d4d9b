// Times for people: in the zone of the terminal, with the zone's name, and how far away they are.

const format = new Intl.DateTimeFormat('sv-SE', {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});

/** `2026-11-20 13:20:00 UTC`; a dash where there is no time. */
export function localTime(time: Date | undefined): string {
  return time === undefined ? '–' : format.format(time);
}

const steps: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
];

/** `3 days`, `1 hour`: rounded down to the largest unit that fits. */
export function span(seconds: number): string {
  const [size, name] = steps.find(([length]) => seconds >= length) ?? [1, 'second'];
  const count = Math.floor(Math.max(0, seconds) / size);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** `in 3 days`, `2 hours ago`. */
export function fromNow(time: Date, now: Date): string {
  const seconds = (time.getTime() - now.getTime()) / 1000;
  return seconds >= 0 ? `in ${span(seconds)}` : `${span(-seconds)} ago`;
}
