// Shell completion: candidates and scripts.
import { Argument, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { optionsOf } from './cli/arguments.ts';
import { newCommand, withAction } from './cli/command.ts';

/** Per line: word, tab, explanation. The shell offers files if no line comes. */
export function candidateLines(program: CommandUnknownOpts, argv: readonly string[]): string {
  const typed = argv.at(-1) ?? '';
  const before = argv.slice(0, -1);
  const command = before.reduce(
    (found, word) => found.commands.find((one) => one.name() === word) ?? found,
    program,
  );
  return candidates(program, command, before.at(-1) ?? '', typed)
    .filter(([word]) => word.startsWith(typed))
    .map(([word, about]) => `${word}\t${about}\n`)
    .join('');
}

type Candidate = readonly [word: string, about: string];

function candidates(
  program: CommandUnknownOpts,
  command: CommandUnknownOpts,
  last: string,
  typed: string,
): readonly Candidate[] {
  const open = command.options.find(({ long }) => long === last);
  if (open?.required) return (open.argChoices ?? []).map((word) => [word, open.description]);
  const commands = command.commands.map((one): Candidate => [one.name(), one.summary()]);
  if (!typed.startsWith('-')) return commands;
  const options = optionsOf(program, command);
  return [...commands, ...options.map(({ long, description }): Candidate => [long ?? '', description])];
}

const bash = `_partnerctl() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _partnerctl partnerctl
`;

const zsh = `#compdef partnerctl
_partnerctl() {
  local found=(\${(f)"$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null | cut -f1)"})
  if (( \${#found} )); then compadd -- "\${found[@]}"; else _files; fi
}
compdef _partnerctl partnerctl
`;

const fish = `complete --command partnerctl --arguments '(
  partnerctl __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null
)'
`;

export const completionScripts = { bash, zsh, fish } as const;

export function completionCommand() {
  const command = newCommand('completion', {
    about: 'Print the completion script for a shell: bash, zsh or fish',
    examples: {
      'bash or zsh, for this session': 'source <(partnerctl completion bash)',
      'fish, permanently': 'partnerctl completion fish > ~/.config/fish/completions/partnerctl.fish',
    },
  }).addArgument(new Argument('<shell>', 'Name of the shell').choices(['bash', 'zsh', 'fish'] as const));
  return withAction(command, async (_, shell) => {
    const script = completionScripts[shell];
    return { json: { shell, script }, text: script };
  });
}
