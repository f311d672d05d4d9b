// `status`: the installation at a glance, and what an operator should look at.

import { FeedService } from '@course-exchange/proto/feed/v1';
import {
  type Client,
  ClientService,
  DescribeInstallationResponseSchema,
} from '@course-exchange/proto/operator/v1/client';
import { KeyService, type SigningKey, SigningKeySchema } from '@course-exchange/proto/operator/v1/key';
import { environmentWord } from '../dossier/states.ts';
import type { Call } from '../frame/call.ts';
import { command } from '../frame/command.ts';
import { harmless } from '../frame/terminal.ts';
import { keyTable } from '../output/keys.ts';
import { plain } from '../output/plain.ts';
import { fields } from '../output/tables.ts';

export const status = command({
  name: 'status',
  about: 'Show the installation, its keys, and what needs a look',
  details:
    'Secrets near their expiry stand under "Look at". Ends with 3 when identity does not answer; a catalog out of reach is said, for each image reaches its own service only.',
  operands: {},
  options: {},
  examples: [
    { does: 'At a glance', line: 'partnerctl status' },
    { does: 'For a monitor', line: "partnerctl status --json | jq '.warnings'" },
  ],
  run: async (call) => {
    const clientService = call.services.identity(ClientService);
    const installation = await clientService.describeInstallation({});
    const { clients } = await clientService.listClients({});
    const { keys } = await call.services.identity(KeyService).listKeys({});
    const catalog = await catalogAnswers(call);
    const warnings = clients.flatMap(({ dossier, warnings: own }) =>
      own.map((warning) => ({ clientId: dossier?.clientId ?? '', warning })),
    );
    const { paint } = call.terminal;
    const look = warnings
      .map(({ clientId, warning }) => `  ${clientId}: ${warning}\n`)
      .map(colourless)
      .join('');
    const overview = fields(
      [
        ['Issuer', installation.issuer],
        ['Environment', environmentWord(installation.environment) ?? '–'],
        ['You are', installation.actor],
        ['Identity', call.services.whereIs('identity')],
        ['Catalog', `${call.services.whereIs('catalog')}${catalog ? '' : ': does not answer'}`],
        ['Clients', `${clients.length}, ${clients.filter(({ active }) => active).length} active`],
      ],
      paint,
    );
    return {
      json: {
        ...plain(DescribeInstallationResponseSchema, installation),
        catalogAnswers: catalog,
        clients: { all: clients.length, active: activeOf(clients) },
        keys: plainKeys(keys),
        warnings,
      },
      text: `${overview}\n${keyTable(keys, call.now(), paint)}${look ? `\n${paint('yellow', 'Look at')}\n${look}` : ''}`,
    };
  },
});

function activeOf(clients: readonly Client[]): number {
  return clients.filter(({ active }) => active).length;
}

function plainKeys(keys: readonly SigningKey[]) {
  return keys.map((key) => plain(SigningKeySchema, key));
}

function colourless(line: string): string {
  return `${harmless(line.slice(0, -1))}\n`;
}

const catalogPatienceMs = 3000;

async function catalogAnswers(call: Call): Promise<boolean> {
  const feed = call.services.catalog(FeedService);
  return feed.getResumePoint({ source: 'status' }, { timeoutMs: catalogPatienceMs }).then(
    () => true,
    () => false,
  );
}
