// The kinds of options and operands that commands declare; reading one yields a typed value or a Problem.
import { usageProblem } from './problem.ts';

/** One option: how help shows it and how its words become a value. */
export interface Option<T> {
  /** `<name>` when it takes a value, undefined for a switch. */
  readonly value?: string;
  readonly about: string;
  readonly short?: string;
  readonly repeats?: boolean;
  readonly choices?: readonly string[];
  /** What shell completion offers for its value. */
  readonly completes?: 'file';
  /** `flag` is the option as it was typed, for the sentence about a mistake. */
  readonly read: (words: readonly string[] | undefined, flag: string) => T;
}

export type Options = Readonly<Record<string, Option<unknown>>>;
export type OptionValues<P extends Options> = {
  readonly [K in keyof P]: P[K] extends Option<infer T> ? T : never;
};

export interface Operand {
  /** `<client-id>` where it must be given, `[file]` where it may. */
  readonly term: `<${string}>` | `[${string}]`;
  readonly about: string;
}
export type Operands = Readonly<Record<string, Operand>>;
export type OperandValues<O extends Operands> = {
  readonly [K in keyof O]: O[K]['term'] extends `<${string}>` ? string : string | undefined;
};

export function toggle(about: string): Option<boolean> {
  return { about, read: (words) => words !== undefined };
}

export function text(value: string, about: string): Option<string | undefined> {
  return { value, about, read: (words) => words?.at(-1) };
}

export function file(about: string, value = '<file>'): Option<string | undefined> {
  return { ...text(value, about), completes: 'file' };
}

/** May be given more than once. */
export function texts(value: string, about: string): Option<readonly string[] | undefined> {
  return { value, about, repeats: true, read: (words) => words };
}

export function choice<const T extends string>(
  value: string,
  choices: readonly T[],
  about: string,
): Option<T | undefined> {
  const read = (words: readonly string[] | undefined) => choices.find((one) => one === words?.at(-1));
  return { value, about, choices, read };
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** A length of time such as 14d, in seconds. */
function seconds(word: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,6})([smhdw])$/.exec(word) ?? [];
  const size = units[unit ?? ''];
  return size === undefined ? undefined : Number(count) * size;
}

/** Seconds. */
export function duration(about: string): Option<number | undefined> {
  return {
    value: '<time>',
    about,
    read: (words, flag) => {
      const word = words?.at(-1);
      if (word === undefined) return undefined;
      const length = seconds(word);
      if (length !== undefined) return length;
      throw usageProblem(`${flag} ${word} is no length of time.`, 'Write it like 30m, 12h, 14d or 2w.');
    },
  };
}

export function count(value: string, about: string, most: number): Option<number | undefined> {
  return {
    value,
    about,
    read: (words, flag) => {
      const word = words?.at(-1);
      if (word === undefined) return undefined;
      if (/^[1-9]\d*$/.test(word) && Number(word) <= most) return Number(word);
      throw usageProblem(`${flag} ${word} is no whole number from 1 to ${most}.`);
    },
  };
}

/** A time written in full (2026-11-20T13:20:00Z), or a length of time before now (2h, 7d). */
export function moment(about: string): Option<((now: Date) => Date) | undefined> {
  return {
    value: '<time>',
    about,
    read: (words, flag) => {
      const word = words?.at(-1);
      if (word === undefined) return undefined;
      const length = seconds(word);
      if (length !== undefined) return (now) => new Date(now.getTime() - length * 1000);
      const time = new Date(word);
      if (/^\d{4}-\d\d-\d\d/.test(word) && !Number.isNaN(time.getTime())) return () => time;
      throw usageProblem(`${flag} ${word} is no time.`, 'Write it like 2h, 7d or 2026-11-20T13:20:00Z.');
    },
  };
}
