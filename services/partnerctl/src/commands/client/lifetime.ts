// A length of time as the wire wants it, or nothing where none was given.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { DurationSchema } from '@bufbuild/protobuf/wkt';

type Lifetime<K extends string> = { readonly [name in K]?: MessageInitShape<typeof DurationSchema> };

export function lifetime<K extends string>(name: K, seconds: number | undefined): Lifetime<K> {
  const given = seconds === undefined ? {} : { [name]: { seconds: BigInt(seconds) } };
  return given as Lifetime<K>;
}
