// Clients in YAML: a dossier file holds one, a file for `apply` a list under `clients`. What one exports, the other
// reads. No file ever holds a secret.
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type ContactSchema,
  type DeclaredClient,
  DeclaredClientSchema,
  type EnvironmentRegistrationSchema,
} from '@course-exchange/proto/operator/v1/client';
import { approvalStates, approvalWords, environments, environmentWords } from './states.ts';
import { readYaml, type YamlFile } from './yaml-file.ts';

type Path = readonly (string | number)[];

const clientKeys = [
  'clientId',
  'name',
  'state',
  'active',
  'technicalContact',
  'credentialContacts',
  'environments',
  'redirectUris',
  'scopes',
  'userJourney',
  'requirements',
] as const;
const requirementKeys = ['logout', 'unlinking', 'retention'] as const;
const contactKeys = ['name', 'email', 'phone'] as const;

/** The one client of a dossier file. Throws a Problem that lists every mistake. */
export function readDossier(name: string, content: string): DeclaredClient {
  const file = readYaml(name, content);
  const client = clientAt(file, []);
  file.finish();
  return client;
}

/** The clients of a file for plan and apply. Throws a Problem that lists every mistake. */
export function readDeclarations(name: string, content: string): readonly DeclaredClient[] {
  const file = readYaml(name, content);
  file.keys([], ['clients']);
  const clients = each(file, ['clients'], (path) => clientAt(file, path));
  for (const [at, { dossier }] of clients.entries()) {
    const first = clients.findIndex((other) => other.dossier?.clientId === dossier?.clientId);
    if (first !== at) file.complain(['clients', at, 'clientId'], `${dossier?.clientId} is declared twice.`);
  }
  file.finish();
  return clients;
}

function clientAt(file: YamlFile, path: Path): DeclaredClient {
  file.keys(path, clientKeys);
  const text = (key: string) => file.text([...path, key]) ?? '';
  const clientId = text('clientId');
  if (!clientId) file.complain([...path, 'clientId'], 'clientId is missing.');
  const requirements = [...path, 'requirements'];
  if (file.has(requirements)) file.keys(requirements, requirementKeys);
  const requirement = (key: string) => file.text([...requirements, key]) ?? '';
  const active = file.flag([...path, 'active']);
  return create(DeclaredClientSchema, {
    dossier: {
      clientId,
      name: text('name'),
      ...(file.has([...path, 'technicalContact'])
        ? { technicalContact: contactAt(file, [...path, 'technicalContact']) }
        : {}),
      credentialContacts: each(file, [...path, 'credentialContacts'], (at) => contactAt(file, at)),
      environments: registrationsAt(file, path),
      scopes: textsAt(file, [...path, 'scopes']),
      userJourney: text('userJourney'),
      logoutRequirements: requirement('logout'),
      unlinkingRequirements: requirement('unlinking'),
      retentionRequirements: requirement('retention'),
    },
    approvalState: stateAt(file, [...path, 'state']),
    ...(active === undefined ? {} : { active }),
  });
}

function stateAt(file: YamlFile, path: Path) {
  const word = file.text(path);
  const state = approvalWords.find((one) => one === word);
  if (word !== undefined && !state) file.complain(path, `state must be one of ${approvalWords.join(', ')}.`);
  return state === undefined ? 0 : approvalStates[state];
}

function contactAt(file: YamlFile, path: Path): MessageInitShape<typeof ContactSchema> {
  file.keys(path, contactKeys);
  const text = (key: string) => file.text([...path, key]) ?? '';
  return { name: text('name'), email: text('email'), phone: text('phone') };
}

/** `redirectUris` alone are those of the installation that reads the file. */
function registrationsAt(
  file: YamlFile,
  path: Path,
): MessageInitShape<typeof EnvironmentRegistrationSchema>[] {
  const here = textsAt(file, [...path, 'redirectUris']);
  const parent = [...path, 'environments'];
  const named = file.has(parent) ? file.keys(parent, environmentWords) : [];
  const registrations = environmentWords
    .filter((word) => named.includes(word))
    .map((word) => {
      file.keys([...parent, word], ['redirectUris']);
      return {
        environment: environments[word],
        redirectUris: textsAt(file, [...parent, word, 'redirectUris']),
      };
    });
  return here.length > 0 ? [{ environment: 0, redirectUris: here }, ...registrations] : registrations;
}

function textsAt(file: YamlFile, path: Path): string[] {
  return each(file, path, (at) => file.text(at) ?? '').filter(Boolean);
}

function each<T>(file: YamlFile, path: Path, read: (path: Path) => T): T[] {
  return Array.from({ length: file.length(path) }, (_, at) => read([...path, at]));
}
