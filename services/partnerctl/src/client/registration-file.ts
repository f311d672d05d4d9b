// Clients in YAML: one in a registration file, a list under `clients` for `apply`. No file ever holds a secret.
import { create } from '@bufbuild/protobuf';
import {
  ApprovalState,
  type Contact,
  type DeclaredClient,
  DeclaredClientSchema,
  Environment,
} from '@course-exchange/proto/operator/v1/client';
import { type Alias, Document, isNode, LineCounter, parseDocument, visit } from 'yaml';
import * as z from 'zod';
import { given } from '../cli/options.ts';
import { CliError } from '../output/errors.ts';
import { escapeControlChars } from '../output/terminal.ts';

/** Exactly these keys. An error continues the name of the value. */
function map<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `is unknown; known are ${known}.` : `must be a map of ${known}.`,
  });
}

function list<Item extends z.ZodType>(item: Item) {
  return z
    .array(item, { error: 'must be a list.' })
    .nullish()
    .transform((items) => items ?? []);
}

const text = z
  .string({ error: 'must be text; put it in quotes.' })
  .trim()
  .nullish()
  .transform((value) => value ?? '');

/** Without unknown fields, and with every mistake. */
function readYaml<Schema extends z.ZodType>(name: string, content: string, schema: Schema) {
  const lines = new LineCounter();
  const lineAt = (offset = 0): number => lines.linePos(offset).line;
  const document = parseDocument(content, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const lineOf = (path: Path): number => {
    const node = document.getIn(path, true) ?? document.getIn(path.slice(0, -1), true);
    return lineAt(isNode(node) ? node.range?.[0] : undefined);
  };
  const { value, broken } = dataOf(document);
  const { data, error } = broken.length > 0 ? {} : schema.safeParse(value);
  const wrong = (error?.issues ?? []).flatMap((issue) => {
    const path = issue.path as Path;
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : [];
    for (const key of keys) deleteAt(value, path, key);
    return (keys.length > 0 ? keys.map((key) => [...path, key]) : [path]).map((one) => ({
      line: lineOf(one),
      sentence: issue.code === 'custom' ? issue.message : `${label(one)} ${issue.message}`,
    }));
  });
  const mistakes = [...broken.map(({ at, sentence }) => ({ line: lineAt(at), sentence })), ...wrong];
  return {
    data: error === undefined ? data : schema.safeParse(value).data,
    mistakes: mistakes
      .toSorted((one, other) => one.line - other.line)
      .map(({ line, sentence }) => `${name}:${line}: ${clipped(sentence)}`),
  };
}

/** The value, or the mistakes with their offsets; an alias may name no anchor, or far too much. */
function dataOf(document: Document.Parsed) {
  const broken = [...document.errors, ...document.warnings].map(({ pos: [at], message }) => ({
    at,
    sentence: `${message}.`,
  }));
  if (broken.length > 0) return { value: undefined, broken };
  try {
    return { value: document.toJS() as unknown, broken };
  } catch (error) {
    const aliases: Alias[] = [];
    visit(document, { Alias: (_key, alias) => void aliases.push(alias) });
    const at = (aliases.find((alias) => !alias.resolve(document)) ?? aliases[0])?.range?.[0];
    return { value: undefined, broken: [{ at, sentence: `${(error as Error).message}.` }] };
  }
}

function deleteAt(value: unknown, path: Path, key: string): void {
  const map = path.reduce<unknown>((below, step) => Object(below)[step], value);
  delete Object(map)[key];
}

const longestSentence = 500;

function clipped(sentence: string): string {
  return sentence.length > longestSentence ? `${sentence.slice(0, longestSentence)}…` : sentence;
}

const mostListed = 50;

export function unusableFile(name: string, mistakes: readonly string[]): CliError {
  const left = mistakes.length - mostListed;
  const listed = [...mistakes.slice(0, mostListed), ...(left > 0 ? [`and ${left} more`] : [])];
  return new CliError('usage', `${name} cannot be used.`, { mistakes: listed });
}

type Path = readonly (string | number)[];

function label(path: Path): string {
  const name = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return name.replace(/^\./, '') || 'The file';
}

export const approvalStates = {
  draft: ApprovalState.DRAFT,
  test: ApprovalState.TEST,
  approved: ApprovalState.APPROVED,
} as const;
export const approvalStateNames = ['draft', 'test', 'approved'] as const;

export const environments = { test: Environment.TEST, production: Environment.PRODUCTION } as const;
export const environmentNames = ['test', 'production'] as const;

export function approvalStateName(state: ApprovalState) {
  return approvalStateNames.find((name) => approvalStates[name] === state);
}

export function environmentName(environment: Environment) {
  return environmentNames.find((name) => environments[name] === environment);
}

const texts = list(text).transform((values) => values.filter(Boolean));
const contact = map({ name: text, email: text, phone: text });
const environment = map({ redirectUris: texts });

const clientFields = map({
  clientId: text.refine(Boolean, { error: 'clientId is missing.' }),
  name: text,
  state: z.enum(approvalStateNames, { error: `must be one of ${approvalStateNames.join(', ')}.` }).nullish(),
  active: z.boolean({ error: 'must be true or false.' }).nullish(),
  technicalContact: contact.optional(),
  credentialContacts: list(contact),
  environments: map({ test: environment.optional(), production: environment.optional() }).optional(),
  redirectUris: texts,
  scopes: texts,
  userJourney: text,
  requirements: map({ logout: text, unlinking: text, retention: text }).optional(),
});
const client = clientFields.transform(declared);

const declarations = map({
  clients: list(client).superRefine((clients, { addIssue }) => {
    const ids = clients.map(({ registration }) => registration?.clientId);
    for (const [at, id] of ids.entries())
      if (ids.indexOf(id) !== at)
        addIssue({ code: 'custom', path: [at, 'clientId'], message: `${id} is declared twice.` });
  }),
});

/** `registration` is undefined when the mistakes leave none. */
export function readRegistration(name: string, content: string) {
  const { data, mistakes } = readYaml(name, content, client);
  return { registration: data?.registration, mistakes };
}

/** Throws one CliError with every mistake. */
export function readDeclarations(name: string, content: string): readonly DeclaredClient[] {
  const { data, mistakes } = readYaml(name, content, declarations);
  if (data === undefined || mistakes.length > 0) throw unusableFile(name, mistakes);
  return data.clients;
}

function declared(fields: z.output<typeof clientFields>): DeclaredClient {
  const { state, active, environments: named = {}, redirectUris, requirements, ...registration } = fields;
  const known = environmentNames.flatMap((name) => {
    const uris = named[name]?.redirectUris;
    return uris ? [{ environment: environments[name], redirectUris: uris }] : [];
  });
  // Top-level `redirectUris` are for the installation that reads the file.
  const here = { environment: Environment.UNSPECIFIED, redirectUris };
  return create(DeclaredClientSchema, {
    registration: {
      ...registration,
      environments: redirectUris.length > 0 ? [here, ...known] : known,
      logoutRequirements: requirements?.logout ?? '',
      unlinkingRequirements: requirements?.unlinking ?? '',
      retentionRequirements: requirements?.retention ?? '',
    },
    ...given({ approvalState: state ? approvalStates[state] : undefined, active: active ?? undefined }),
  });
}

export function writeDeclarations(clients: readonly DeclaredClient[]): string {
  const document = new Document({ clients: clients.map(fieldsToWrite) });
  // YAML knows escapes only in double quotes.
  visit(document, {
    Scalar: (_, scalar) => {
      const { value } = scalar;
      if (typeof value === 'string' && escapeControlChars(value) !== value) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeControlChars(document.toString({ lineWidth: 100 }));
}

function fieldsToWrite({ registration, approvalState, active }: DeclaredClient) {
  const { clientId, name, technicalContact, credentialContacts = [], scopes } = registration ?? {};
  const written = (registration?.environments ?? []).flatMap(({ environment, redirectUris }) => {
    const key = environmentName(environment);
    return key === undefined ? [] : [[key, { redirectUris }]];
  });
  const requirements = {
    logout: registration?.logoutRequirements || undefined,
    unlinking: registration?.unlinkingRequirements || undefined,
    retention: registration?.retentionRequirements || undefined,
  };
  return {
    clientId,
    name,
    state: approvalStateName(approvalState),
    active,
    technicalContact: technicalContact && contactToWrite(technicalContact),
    credentialContacts: credentialContacts.length > 0 ? credentialContacts.map(contactToWrite) : undefined,
    environments: Object.fromEntries(written),
    scopes,
    userJourney: registration?.userJourney || undefined,
    requirements: Object.values(requirements).some(Boolean) ? requirements : undefined,
  };
}

function contactToWrite({ name, email, phone }: Contact) {
  return { name, email, phone: phone || undefined };
}
