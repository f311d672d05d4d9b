// Decodes application/x-www-form-urlencoded text once (R3.1): the query of /authorize and every form.
import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf';
import { Failure } from '@course-exchange/runtime/process/errors';
import { bringsForm, type IncomingRequest } from './request.ts';

export interface Form {
  /** '' when absent: empty and absent are the same (R1.8). */
  readonly get: (name: string) => string;
  readonly repeated: readonly string[];
  readonly notUtf8: () => string[];
}

/** Longer names are ignored as unknown. */
const longestName = 64;

export function decodeForm(encoded: string): Form {
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  for (const [name, value] of new URLSearchParams(encoded)) {
    if (values.has(name) && name.length <= longestName) repeated.add(name);
    else values.set(name, value);
  }
  return { get: (name) => values.get(name) ?? '', repeated: [...repeated], notUtf8: () => notUtf8(encoded) };
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

/** Values with a U+FFFD that was not sent as such. */
function notUtf8(encoded: string): string[] {
  const withoutSent = new URLSearchParams(encoded.replaceAll(/%EF%BF%BD/gi, '?'));
  return [...withoutSent].flatMap(([name, value]) => (value.includes('\uFFFD') ? [name] : []));
}

/** The form of a POST. Throws `invalid_request` for any other body (R7.5). */
export function readForm(request: IncomingRequest): Form {
  return decodeForm(formText(request));
}

export function formText(request: IncomingRequest): string {
  if (!bringsForm(request)) throw new Failure('invalid_request', 'content type');
  return request.body;
}
