// `client list` and `client show`.
import { ClientSchema, ClientService } from '@course-exchange/proto/operator/v1/client';
import { approvalStates, approvalWords } from '../../dossier/states.ts';
import { command } from '../../frame/command.ts';
import { choice, toggle } from '../../frame/options.ts';
import { Problem, usageProblem } from '../../frame/problem.ts';
import { clientTable, clientText, secretTable } from '../../output/clients.ts';
import { plain } from '../../output/plain.ts';

export const clientList = command({
  name: 'list',
  about: 'List clients, and what an operator should look at',
  operands: {},
  options: {
    active: toggle('Only those that may act'),
    inactive: toggle('Only those that may not'),
    state: choice('<state>', approvalWords, 'Only those in this state'),
  },
  examples: [
    { does: 'Every client', line: 'partnerctl client list' },
    {
      does: 'Identifiers of active clients, for a script',
      line: "partnerctl client list --active --json | jq -r '.clients[].dossier.clientId'",
    },
  ],
  run: async (call, _, { active, inactive, state }) => {
    if (active && inactive) throw usageProblem('--active and --inactive exclude each other.');
    const { clients } = await call.services.identity(ClientService).listClients({
      ...(active || inactive ? { active } : {}),
      ...(state === undefined ? {} : { approvalState: approvalStates[state] }),
    });
    return {
      json: { clients: clients.map((client) => plain(ClientSchema, client)) },
      text: clientTable(clients, call.terminal.paint),
    };
  },
});

export const clientShow = command({
  name: 'show',
  about: 'Show a client: dossier, approvals, secrets without the secret',
  operands: { clientId: { term: '<client-id>', about: 'The client' } },
  options: {},
  examples: [{ does: 'The whole client', line: 'partnerctl client show acme' }],
  run: async (call, { clientId }) => {
    const { client } = await call.services.identity(ClientService).getClient({ clientId });
    if (!client) throw new Problem(`There is no client ${clientId}.`, { exit: 'missing' });
    const { paint } = call.terminal;
    return {
      json: { client: plain(ClientSchema, client) },
      text: `${clientText(client, paint)}\n${secretTable(client.secrets, call.now(), paint)}`,
    };
  },
});
