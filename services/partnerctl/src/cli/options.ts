// Option values that several commands read: durations, times, counts, repeated options.
import { timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Option } from '@commander-js/extra-typings';
import { firstTime, isTime, storedTime } from '@course-exchange/rules/time';
import { type CliError, usageError } from '../output/errors.ts';

export function repeated(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

function secondsOf(value: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,6})([smhdw])$/.exec(value) ?? [];
  const size = units[unit ?? ''];
  return size === undefined ? undefined : Number(count) * size;
}

export function durationOption<const Flags extends string>(flags: Flags, about: string) {
  return new Option(flags, about).argParser((value) => {
    const seconds = secondsOf(value);
    if (seconds !== undefined) return { seconds: BigInt(seconds) };
    throw wrongValue(flags, value, 'is not a duration.', 'Write it like 30m, 12h, 14d or 2w.');
  });
}

/** A full time (2026-11-20T13:20:00Z), or how long ago it was (2h, 7d). */
export function timeOption<const Flags extends string>(flags: Flags, about: string) {
  return new Option(flags, about).argParser((value) => {
    const seconds = secondsOf(value);
    if (seconds !== undefined)
      return (now: Date) => timestampFromMs(Math.max(firstTime, now.getTime() - seconds * 1000));
    const time = new Date(value);
    const isOfCalendar = storedTime(`${value.slice(0, 10)}T00:00:00Z`) !== undefined;
    if (isOfCalendar && isTime(time.getTime())) return () => timestampFromDate(time);
    throw wrongValue(flags, value, 'is not a time.', 'Write it like 2h, 7d or 2026-11-20T13:20:00Z.');
  });
}

export function countOption<const Flags extends string>(flags: Flags, about: string, most: number) {
  return new Option(flags, about).argParser((value) => {
    if (/^[1-9]\d*$/.test(value) && Number(value) <= most) return Number(value);
    throw wrongValue(flags, value, `is not a whole number from 1 to ${most}.`);
  });
}

export const noteOption = new Option('--note <text>', 'Why, or under which agreement');

export const versionOption = countOption(
  '--expected-version <number>',
  'The version that you read; refused if it has changed',
  4_294_967_295,
);

function wrongValue(flags: string, value: string, what: string, advice?: string): CliError {
  return usageError(`${flags.split(' ')[0]}: '${value}' ${what}`, advice);
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined | null> };

/** `fields` without undefined and null values. */
export function given<T extends object>(fields: T): Given<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(entries) as Given<T>;
}
