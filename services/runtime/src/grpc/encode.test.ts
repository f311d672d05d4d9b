import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { FeedService } from '@course-exchange/proto/feed/v1';
import { AuthorizationService } from '@course-exchange/proto/identity/v1/authorization';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { CallStreamService } from '@course-exchange/proto/rpc/v1';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Encoded, encoder } from './encode.ts';

const ofUsers = [AuthorizationService, CatalogService, DiscoveryService, TokenService, CallStreamService];
const services = [...ofUsers, ClientService, FeedService, UserService];
const schemas = services
  .flatMap(({ methods }) => methods.flatMap(({ input, output }) => [input, output]))
  .filter((schema) => encoder(schema) !== undefined);

/** Half a surrogate pair among them. */
const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.constantFrom('\ud800', 'a\udc00b'));
const scalars: Partial<Record<ScalarType, fc.Arbitrary<unknown>>> = {
  [ScalarType.STRING]: text,
  [ScalarType.BYTES]: fc.uint8Array({ maxLength: 300 }),
  [ScalarType.UINT32]: fc.nat(2 ** 32 - 1),
  [ScalarType.BOOL]: fc.boolean(),
};

function messageOf({ fields }: DescMessage): fc.Arbitrary<Record<string, unknown>> {
  const values = Object.fromEntries(fields.map((field) => [field.localName, fieldValue(field)]));
  return fc.record(values, { requiredKeys: [] });
}

function fieldValue({ fieldKind, message, scalar, name }: DescField): fc.Arbitrary<unknown> {
  if (fieldKind === 'map') return fc.dictionary(text, text);
  const one = message ? messageOf(message) : scalar && scalars[scalar];
  if (one === undefined) throw new Error(`no values for ${name}`);
  return fieldKind === 'list' ? fc.array(one) : one;
}

function written(message: Encoded | undefined): Uint8Array {
  // Behind the five bytes with which a frame begins.
  const frame = Buffer.alloc(5 + (message?.length ?? 0));
  message?.copy(frame, 5);
  return new Uint8Array(frame.subarray(5));
}

/** What protobuf-es reads of the bytes that we write, and of those that it writes. */
function readOf(schema: DescMessage, message: Record<string, unknown>) {
  return {
    ours: fromBinary(schema, written(encoder(schema)?.(message))),
    theirs: fromBinary(schema, toBinary(schema, create(schema, message))),
  };
}

test('messages of calls are written here', () => {
  const names = schemas.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['CarryRequest', 'CarryResponse', 'ExchangeTokenResponse']));
});

test.each(schemas)('$typeName is read as it was written', (schema) => {
  fc.assert(
    fc.property(messageOf(schema), (message) => {
      const { ours, theirs } = readOf(schema, message);
      expect(ours).toEqual(theirs);
    }),
  );
});

test('an optional text that is empty is not one that is absent', () => {
  for (const message of [{ idToken: '' }, {}]) {
    const { ours, theirs } = readOf(TokenService.method.exchangeToken.output, message);
    expect(ours).toEqual(theirs);
    expect(ours).toMatchObject(message);
  }
});

test('a message stands in another one as the bytes that it is written to', () => {
  const [inner, outer] = [TokenService.method.exchangeToken.output, CallStreamService.method.carry.output];
  fc.assert(
    fc.property(messageOf(inner), messageOf(inner), (one, other) => {
      const answers = [one, other].map((message, id) => ({ id, message: encoder(inner)?.(message) }));
      const read = fromBinary(outer, written(encoder(outer)?.({ answers })));
      expect(read.answers.map(({ message }) => fromBinary(inner, message))).toEqual(
        [one, other].map((message) => fromBinary(inner, toBinary(inner, create(inner, message)))),
      );
    }),
  );
});

test('a value of another type is refused before anything is sent', () => {
  const write = encoder(TokenService.method.exchangeToken.output);
  for (const accessToken of [7, {}, true]) expect(() => write?.({ accessToken })).toThrow(TypeError);
});

test('a number that the form cannot hold is refused', () => {
  const write = encoder(CallStreamService.method.carry.input);
  for (const id of [-1, 0.5, 2 ** 32, Number.POSITIVE_INFINITY])
    expect(() => write?.({ calls: [{ id }] })).toThrow(RangeError);
});
