// Clients in YAML: one in a registration file, a list under `clients` for `apply`. No file ever holds a secret.
import { create } from '@bufbuild/protobuf';
import {
  ApprovalState,
  type Contact,
  type DeclaredClient,
  DeclaredClientSchema,
  Environment,
} from '@course-exchange/proto/operator/v1/client';
import { Document, isNode, LineCounter, parseDocument, visit } from 'yaml';
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
  const document = parseDocument(content, { lineCounter: lines, prettyErrors: false });
  const lineOf = (path: Path): number => {
    const node = document.getIn(path, true) ?? document.getIn(path.slice(0, -1), true);
    return lines.linePos(isNode(node) ? (node.range?.[0] ?? 0) : 0).line;
  };
  const broken = document.errors.map(({ pos: [start], message }) => ({
    line: lines.linePos(start).line,
    sentence: `${message}.`,
  }));
  const { data, error } = broken.length > 0 ? {} : schema.safeParse(document.toJS());
  const wrong = (error?.issues ?? []).flatMap((issue) => {
    const path = issue.path as Path;
    const paths = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...path, key]) : [path];
    return paths.map((one) => ({
      line: lineOf(one),
      sentence: issue.code === 'custom' ? issue.message : `${label(one)} ${issue.message}`,
    }));
  });
  const mistakes = [...broken, ...wrong].toSorted((one, other) => one.line - other.line);
  for (const issue of error?.issues ?? [])
    if (issue.code === 'unrecognized_keys')
      for (const key of issue.keys) document.deleteIn([...issue.path, key]);
  return {
    data: error === undefined ? data : schema.safeParse(document.toJS()).data,
    mistakes: mistakes.map(({ line, sentence }) => `${name}:${line}: ${sentence}`),
  };
}

export function unusableFile(name: string, mistakes: readonly string[]): CliError {
  return new CliError('usage', `${name} cannot be used.`, { mistakes });
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
