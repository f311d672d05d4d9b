// `client register`: a draft from a dossier file, from options, or from a file with options over it.
import { create } from '@bufbuild/protobuf';
import {
  ClientSchema,
  ClientService,
  type Dossier,
  DossierSchema,
  type RegisterClientResponse,
} from '@course-exchange/proto/operator/v1/client';
import { readDossier } from '../../dossier/declarations.ts';
import type { Call } from '../../frame/call.ts';
import { command, flagOf } from '../../frame/command.ts';
import { duration, type Option, type OptionValues, text, toggle } from '../../frame/options.ts';
import { usageProblem } from '../../frame/problem.ts';
import { type Handed, handoverOptions, openHandover } from '../../handover/handover.ts';
import { changesText, plainChanges } from '../../output/changes.ts';
import { plain } from '../../output/plain.ts';
import { readNamed } from '../files.ts';
import { dossierOptions, withOptions } from './dossier-options.ts';
import { lifetime } from './lifetime.ts';

export const clientRegister = command({
  name: 'register',
  about: 'Register a client as an inactive draft',
  details:
    'From a dossier in YAML (docs/operator.md shows one), from options, or from both: an option takes the place of what the file says. Every mistake is told at once.',
  operands: { file: { term: '[dossier]', about: 'YAML file; - reads standard input' } },
  options: {
    clientId: text('<client-id>', 'Identifier of the client: 1–64 of A–Z a–z 0–9 _ -'),
    ...dossierOptions,
    withSecret: toggle('Make a first secret too'),
    expiresIn: duration('Let the first secret expire after this time, such as 90d'),
    ...handoverOptions,
  },
  writes: true,
  examples: [
    { does: 'Check a dossier, then register it', line: 'partnerctl client register acme.yaml --dry-run' },
    {
      does: "With a first secret, encrypted to the partner's age key",
      line: 'partnerctl client register acme.yaml --with-secret --encrypt-to age1… --to-file acme.age',
    },
    {
      does: 'From options alone',
      line: 'partnerctl client register --client-id acme --name Acme --redirect-uri https://acme.example/callback --scope openid',
    },
  ],
  run: async (call, { file }, options) => {
    if (!options.withSecret) refuseWayOfSecret(options);
    if (file === '-' && options.encryptTo === '-')
      throw usageProblem(
        'Standard input cannot be both the dossier and the key.',
        'Register first, then `client secret add --encrypt-to -`.',
      );
    const dossier = withOptions(await dossierFrom(call, file, options.clientId), options);
    const handover = options.withSecret ? await openHandover(options, call) : undefined;
    const answer = await call.services
      .identity(ClientService)
      .registerClient({
        dossier,
        withSecret: options.withSecret,
        ...lifetime('secretExpiresIn', options.expiresIn),
        dryRun: call.dryRun,
      })
      .catch((error) => {
        handover?.abandon();
        throw error;
      });
    const handed = answer.secret ? await handover?.deliver(answer.secret) : undefined;
    return answerOf(call, answer, handed);
  },
});

/** They would be passed over in silence: without --with-secret no secret is made. */
function refuseWayOfSecret(
  options: OptionValues<typeof handoverOptions & { readonly expiresIn: Option<number | undefined> }>,
): void {
  const given = (['toFile', 'encryptTo', 'expiresIn'] as const).filter((name) => options[name] !== undefined);
  if (given.length === 0) return;
  throw usageProblem(
    `Without --with-secret no secret is made: ${given.map(flagOf).join(' and ')} would do nothing.`,
    'Add --with-secret, or leave the rest out and say `client secret add` later.',
  );
}

async function dossierFrom(
  call: Call,
  file: string | undefined,
  clientId: string | undefined,
): Promise<Dossier> {
  const declared = file === undefined ? undefined : readDossier(file, await readNamed(file, call)).dossier;
  const dossier = create(DossierSchema, declared);
  if (clientId !== undefined) dossier.clientId = clientId;
  if (dossier.clientId) return dossier;
  throw usageProblem('The client has no identifier.', 'Give a dossier file or --client-id.');
}

function answerOf(call: Call, answer: RegisterClientResponse, handed: Handed | undefined) {
  const { client, changes, secret } = answer;
  const gaps = client?.dossierGaps ?? [];
  const missing =
    gaps.length > 0 ? `Missing for approval:\n${gaps.map((gap) => `  - ${gap}\n`).join('')}` : '';
  return {
    json: {
      dryRun: call.dryRun,
      client: client ? plain(ClientSchema, client) : null,
      secret: secret && handed ? { secretId: secret.secretId, ...handed.plain } : null,
      changes: plainChanges(changes),
    },
    text: `${changesText(changes, call.dryRun, call.terminal.paint)}${missing}${handed ? `\n${handed.text}` : ''}`,
    ...(handed?.aside ? { aside: true as const } : {}),
  };
}
