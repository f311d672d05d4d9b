// Types of one form that must not be taken for each other.
declare const brand: unique symbol;

/** A `T` that only what makes it may be called `Name`. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** A number without a unit of its own counts milliseconds; a time, since the epoch. */
export type Seconds = Brand<number, 'Seconds'>;

export function seconds(count: number): Seconds {
  return count as Seconds;
}

export function inMilliseconds(count: Seconds): number {
  return count * 1_000;
}

/** The whole seconds of so many milliseconds. */
export function inSeconds(milliseconds: number): Seconds {
  return seconds(Math.floor(milliseconds / 1_000));
}
