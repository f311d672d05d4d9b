// The command tree, and how its help and errors look.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import project from '../package.json' with { type: 'json' };
import { auditCommand } from './audit.ts';
import { newCommand } from './cli/command.ts';
import { clientCommand } from './client/commands.ts';
import { completionCommand } from './completion.ts';
import { consentCommand } from './consent.ts';
import { designsCommand } from './designs/commands.ts';
import { keyCommand } from './key.ts';
import { paint, type Terminal } from './output/terminal.ts';
import { explainCommand, refusalsCommand } from './refusals.ts';
import { restoreCommand } from './restore.ts';
import { statusCommand } from './status.ts';
import { userCommand } from './user/commands.ts';

export function createProgram(): CommandUnknownOpts {
  const program = newCommand('partnerctl', {
    about: 'Operate course-exchange: clients, users, consents, signing keys, audit log, designs',
    details: 'Every change is audited under your name. docs/operate.md is the runbook.',
    examples: {
      'The installation at a glance': 'partnerctl status',
      'On-board a partner from its registration file': 'partnerctl client register acme.yaml',
      'What a command would change': 'partnerctl client deactivate acme --dry-run',
    },
  })
    .usage('<command> [options]')
    .version(project.version, '--version', 'Print the version')
    .option('--json', 'Print JSON, with times in UTC')
    .option('--no-color', 'Print without colours; NO_COLOR does the same')
    .option('--identity <address>', "Address of identity's operator port (PARTNERCTL_IDENTITY)")
    .option('--catalog <address>', "Address of design-catalog's feed port (PARTNERCTL_CATALOG)")
    .option(
      '--stack <file>',
      'A stack.json that names both (PARTNERCTL_STACK); else .run/stack.json here or above',
    )
    .option('--operator <name>', 'Your name, if the account is shared, as in a pod (PARTNERCTL_OPERATOR)');
  const commands = [
    clientCommand(),
    userCommand(),
    consentCommand(),
    keyCommand(),
    auditCommand(),
    explainCommand(),
    refusalsCommand(),
    designsCommand(),
    restoreCommand(),
    statusCommand(),
    completionCommand(),
  ];
  for (const command of commands) program.addCommand(command);
  return program;
}

/** Makes errors throw, and gives help the terminal's width and colours. */
export function configureHelp(program: CommandUnknownOpts, { out, err, width }: Terminal): void {
  program
    .helpOption('-h, --help', 'Print this help')
    .helpCommand(false)
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: out.write,
      writeErr: err.write,
      outputError: () => {},
      getOutHelpWidth: () => Math.min(width, 100),
      getErrHelpWidth: () => Math.min(width, 100),
      getOutHasColors: () => out.hasColors,
      getErrHasColors: () => err.hasColors,
    })
    .configureHelp({
      showGlobalOptions: true,
      visibleGlobalOptions: (command) =>
        command.parent ? program.options.filter(({ long }) => long !== '--version') : [],
      styleTitle: (title) => paint('bold', title),
      subcommandTerm: (command) => command.name(),
    });
  inheritSettings(program);
}

function inheritSettings(parent: CommandUnknownOpts): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    inheritSettings(command);
  }
}
