// Decodes application/x-www-form-urlencoded text once (R3.1): the query of /authorize and every form.
import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf';
import { Failure } from '@course-exchange/runtime/process/errors';
import { bringsForm, type IncomingRequest } from './request.ts';

export interface Form {
  /** '' when absent: empty and absent are the same (R1.8). */
  readonly get: (name: string) => string;
  readonly repeated: (known: readonly string[]) => string[];
  /** Those whose value has a U+FFFD that was not sent as such. */
  readonly notUtf8: (known: readonly string[]) => string[];
}

/** Empty ones count too. */
const mostPairs = 1_000;

/** Of more than 1,000 pairs none is read. */
export function decodeForm(encoded: string): Form {
  return parseForm(hasTooManyPairs(encoded) ? '' : encoded);
}

function parseForm(encoded: string): Form {
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  for (const [name, value] of new URLSearchParams(encoded)) {
    if (values.has(name)) repeated.add(name);
    else values.set(name, value);
  }
  return {
    get: (name) => values.get(name) ?? '',
    repeated: (known) => known.filter((name) => repeated.has(name)),
    notUtf8: (known) => {
      const withoutSent = [...new URLSearchParams(encoded.replaceAll(/%EF%BF%BD/gi, '?'))];
      const marked = new Set(withoutSent.flatMap(([name, value]) => (value.includes('\uFFFD') ? name : [])));
      return known.filter((name) => marked.has(name));
    },
  };
}

function hasTooManyPairs(encoded: string): boolean {
  return encoded.split('&', mostPairs + 1).length > mostPairs;
}

/** Reads the form values named like the text fields of `message`. */
export function textsOf<Message extends DescMessage>(message: Message) {
  const texts = message.fields.filter(({ fieldKind }) => fieldKind === 'scalar');
  return (form: Form): MessageInitShape<Message> => {
    const values: Record<string, string> = {};
    for (const { localName, name } of texts) values[localName] = form.get(name);
    return values as MessageInitShape<Message>;
  };
}

/** Throws `invalid_request` if `encoded` has more than 1,000 pairs. */
export function requireForm(encoded: string): Form {
  if (hasTooManyPairs(encoded)) throw new Failure('invalid_request', 'more than 1,000 parameters');
  return parseForm(encoded);
}

/** The form of a POST. Throws `invalid_request` for any other body (R7.5). */
export function readForm(request: IncomingRequest): Form {
  return requireForm(formText(request));
}

export function formText(request: IncomingRequest): string {
  if (!bringsForm(request)) throw new Failure('invalid_request', 'content type');
  return request.body;
}
