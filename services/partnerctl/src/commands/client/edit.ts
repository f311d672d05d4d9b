// `client edit`: a dossier changed by options or replaced by a file.
import { type Client, ClientService, type Dossier } from '@course-exchange/proto/operator/v1/client';
import { readDossier } from '../../dossier/declarations.ts';
import { writeDossier } from '../../dossier/written-declarations.ts';
import type { Call } from '../../frame/call.ts';
import { command } from '../../frame/command.ts';
import { count, file } from '../../frame/options.ts';
import { Problem, usageProblem } from '../../frame/problem.ts';
import { readNamed } from '../files.ts';
import { dossierOptions, withOptions } from './dossier-options.ts';
import { clientAnswer } from './written.ts';

export const clientEdit = command({
  name: 'edit',
  about: "Change a client's dossier",
  details:
    'Options change what they name and leave the rest; a list given replaces the list. With --file the dossier becomes what the file says. Somebody else’s change in between is never overwritten (exit code 4).',
  operands: { clientId: { term: '<client-id>', about: 'The client' } },
  options: {
    file: file('YAML dossier to take the place of the present one'),
    ...dossierOptions,
    version: count('<number>', 'The version that you read; refused when it has changed since', 4_294_967_295),
  },
  writes: true,
  examples: [
    {
      does: 'Another redirect URI, for production alone',
      line: 'partnerctl client edit acme --redirect-uri production=https://acme.example/cb',
    },
    {
      does: 'From a file, after a look at what would change',
      line: 'partnerctl client edit acme --file acme.yaml --dry-run',
    },
  ],
  run: async (call, { clientId }, options) => {
    const clients = call.services.identity(ClientService);
    const { client } = await clients.getClient({ clientId });
    if (!client?.dossier) throw new Problem(`There is no client ${clientId}.`, { exit: 'missing' });
    const base = options.file === undefined ? client.dossier : await dossierOf(call, options.file, client);
    const dossier = withOptions(base, options);
    if (options.file === undefined && writeDossier(dossier) === writeDossier(client.dossier)) {
      throw usageProblem('No option changes anything.', 'Name a field, or --file with a dossier.');
    }
    const answer = await clients.editClient({
      dossier,
      expectedVersion: options.version ?? client.version,
      dryRun: call.dryRun,
    });
    return clientAnswer(call, answer);
  },
});

async function dossierOf(call: Call, name: string, { dossier: present }: Client): Promise<Dossier> {
  const { dossier } = readDossier(name, await readNamed(name, call));
  if (dossier && dossier.clientId === present?.clientId) return dossier;
  throw usageProblem(`${name} is the dossier of ${dossier?.clientId}, not of ${present?.clientId}.`);
}
