// The dossier as options: each says one thing in the place of the file's.
import { clone, create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type Contact,
  ContactSchema,
  type Dossier,
  DossierSchema,
  Environment,
  type EnvironmentRegistration,
  EnvironmentRegistrationSchema,
} from '@course-exchange/proto/operator/v1/client';
import { environments, environmentWords } from '../../dossier/states.ts';
import { type OptionValues, text, texts } from '../../frame/options.ts';
import { usageProblem } from '../../frame/problem.ts';

export const dossierOptions = {
  name: text('<name>', 'Name of the application, as users see it'),
  technicalContact: text(
    '<contact>',
    'Whom to ask about the integration: "Ann Example <ann@partner.example> +49 30 1"',
  ),
  credentialContact: texts('<contact>', 'Who receives secrets and is called for a rotation; may be repeated'),
  redirectUri: texts(
    '<uri>',
    'A redirect URI of this installation, or test=… or production=…; may be repeated',
  ),
  scope: texts('<scope>', 'openid, profile or email; may be repeated'),
  userJourney: text('<text>', 'What a user does at the partner, in a sentence'),
  logout: text('<text>', 'What the partner requires for logout'),
  unlinking: text('<text>', 'What it requires for unlinking an account'),
  retention: text('<text>', 'What it requires for keeping data'),
};

type DossierValues = OptionValues<typeof dossierOptions>;

/** A copy of `dossier` with what the options say in its place. */
export function withOptions(dossier: Dossier, values: DossierValues): Dossier {
  const edited = clone(DossierSchema, dossier);
  if (values.name !== undefined) edited.name = values.name;
  if (values.technicalContact !== undefined) edited.technicalContact = contact(values.technicalContact);
  if (values.credentialContact) edited.credentialContacts = values.credentialContact.map(contact);
  if (values.redirectUri) edited.environments = registrations(edited.environments, values.redirectUri);
  if (values.scope) edited.scopes = values.scope.flatMap((words) => words.split(/[\s,]+/).filter(Boolean));
  if (values.userJourney !== undefined) edited.userJourney = values.userJourney;
  if (values.logout !== undefined) edited.logoutRequirements = values.logout;
  if (values.unlinking !== undefined) edited.unlinkingRequirements = values.unlinking;
  if (values.retention !== undefined) edited.retentionRequirements = values.retention;
  return edited;
}

/** `Name <mail> phone`; the telephone number may be left out. */
function contact(words: string): Contact {
  const [, name = '', email = '', phone = ''] = /^\s*([^<>]*?)\s*<([^<>\s]+)>\s*(.*?)\s*$/.exec(words) ?? [];
  if (email) return create(ContactSchema, { name, email, phone });
  throw usageProblem(
    `${words} is no contact.`,
    'Write "Ann Example <ann@partner.example>", with a telephone number behind if there is one.',
  );
}

/** Environments that are named get the URIs given; the others keep theirs. */
function registrations(
  present: readonly EnvironmentRegistration[],
  words: readonly string[],
): EnvironmentRegistration[] {
  const given = new Map<Environment, string[]>();
  for (const word of words) {
    const named = environmentWords.find((environment) => word.startsWith(`${environment}=`));
    const environment = named === undefined ? Environment.UNSPECIFIED : environments[named];
    const uri = named === undefined ? word : word.slice(named.length + 1);
    given.set(environment, [...(given.get(environment) ?? []), uri]);
  }
  const kept = present.filter(({ environment }) => !given.has(environment));
  const made = [...given].map(
    ([environment, redirectUris]): MessageInitShape<typeof EnvironmentRegistrationSchema> => ({
      environment,
      redirectUris,
    }),
  );
  return [...kept, ...made.map((one) => create(EnvironmentRegistrationSchema, one))];
}
