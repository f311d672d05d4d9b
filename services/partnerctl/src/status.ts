// `status`: the installation at a glance, and what needs attention.
import type { Client } from '@connectrpc/connect';
import { FeedService } from '@course-exchange/proto/feed/v1';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { KeyService } from '@course-exchange/proto/operator/v1/key';
import { newCommand, withAction } from './cli/command.ts';
import { environmentName } from './client/registration-file.ts';
import { keyTable } from './key.ts';
import { fieldsOf } from './output/result.ts';
import { fields } from './output/table.ts';
import { paint, sanitize } from './output/terminal.ts';

export function statusCommand() {
  const command = newCommand('status', {
    about: 'Show the installation, its keys, and what needs attention',
    details:
      'Lists secrets near their expiry under "Attention". Exit code 3 if identity does not answer. The catalog is asked only if its address is given; its failure is only reported.',
    examples: {
      'At a glance': 'partnerctl status',
      'For a monitor': "partnerctl status --json | jq '.warnings'",
    },
  });
  return withAction(command, async ({ services, now }) => {
    const installation = await services.identity(ClientService).describeInstallation({});
    const { clients } = await services.identity(ClientService).listClients({});
    const { keys } = await services.identity(KeyService).listKeys({});
    const catalog = services.addressOf('catalog');
    const catalogAnswers = catalog.isAssumed ? null : await doesCatalogAnswer(services.catalog(FeedService));
    const active = clients.filter((client) => client.active).length;
    const warnings = clients.flatMap(({ registration, warnings: own }) =>
      own.map((warning) => ({ clientId: registration?.clientId ?? '', warning })),
    );
    const attention = warnings.map(({ clientId, warning }) => `  ${sanitize(`${clientId}: ${warning}`)}\n`);
    const overview = fields({
      Issuer: installation.issuer,
      Environment: environmentName(installation.environment) ?? '–',
      'You are': installation.actor,
      Identity: services.addressOf('identity').display,
      Catalog: catalog.isAssumed
        ? undefined
        : `${catalog.display}${catalogAnswers ? '' : ': does not answer'}`,
      Clients: `${clients.length}, ${active} active`,
    });
    const json = { catalogAnswers, clients: { all: clients.length, active }, keys, warnings };
    return {
      json: { ...fieldsOf(installation), ...json },
      text: [
        `${overview}\n${keyTable(keys, now())}`,
        ...(attention.length > 0 ? [`\n${paint('yellow', 'Attention')}\n`, ...attention] : []),
      ].join(''),
    };
  });
}

function doesCatalogAnswer(feed: Client<typeof FeedService>): Promise<boolean> {
  const answer = feed.getResumePoint({ source: 'status' }, { timeoutMs: 3000 });
  return answer.then(Boolean, () => false);
}
