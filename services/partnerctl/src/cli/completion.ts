// Shell completion: what may come next on a command line, and the scripts with which shells ask for it.
import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { newCommand, withAction } from './command.ts';
import { usageError } from './errors.ts';

export interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** Candidates for the last of `argv`, which may be empty. None means: a file, if anything. */
export function candidates(program: CommandUnknownOpts, argv: readonly string[]): readonly Candidate[] {
  const typed = argv.at(-1) ?? '';
  const before = argv.slice(0, -1);
  const command = before.reduce(
    (found, word) => found.commands.find((one) => one.name() === word) ?? found,
    program,
  );
  const open = command.options.find(({ long }) => long === before.at(-1));
  return offered(program, command, open, typed).filter(({ word }) => word.startsWith(typed));
}

function offered(
  program: CommandUnknownOpts,
  command: CommandUnknownOpts,
  open: Option | undefined,
  typed: string,
): readonly Candidate[] {
  if (open && (open.required || open.optional))
    return (open.argChoices ?? []).map((word) => ({ word, about: open.description }));
  const commands = command.commands.map((one) => ({ word: one.name(), about: one.summary() }));
  if (!typed.startsWith('-')) return commands;
  const own = command.createHelp().visibleOptions(command);
  const options = command === program ? own : [...own, ...program.options];
  return [...commands, ...options.map(({ long, description }) => ({ word: long ?? '', about: description }))];
}

/** A line per candidate, as the completion scripts read them: word, tab, explanation. */
export function candidateLines(program: CommandUnknownOpts, argv: readonly string[]): string {
  return candidates(program, argv)
    .map(({ word, about }) => `${word}\t${about}\n`)
    .join('');
}

const bash = `# Completion of partnerctl for bash: source <(partnerctl completion bash)
_partnerctl() {
  local word candidates=()
  while IFS=$'\\t' read -r word _; do candidates+=("$word"); done < <(
    "\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null
  )
  COMPREPLY=("\${candidates[@]}")
}
complete -o default -F _partnerctl partnerctl
`;

const zsh = `#compdef partnerctl
# Completion of partnerctl for zsh: source <(partnerctl completion zsh)
_partnerctl() {
  local word about
  local -a candidates
  while IFS=$'\\t' read -r word about; do
    candidates+=("\${word//:/\\\\:}:\${about}")
  done < <("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#candidates} )); then _describe 'partnerctl' candidates; else _files; fi
}
compdef _partnerctl partnerctl
`;

const fish = `# Completion of partnerctl for fish: partnerctl completion fish | source
function __partnerctl_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l typed (commandline --current-token --cut-at-cursor)
    set -l found ($words[1] __complete $words[2..-1] "$typed" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path "$typed"
    end
end
complete --command partnerctl --no-files --arguments '(__partnerctl_complete)'
`;

export const completionScripts = { bash, zsh, fish } as const;

export function completionCommand() {
  const command = newCommand('completion', {
    about: 'Print the completion script for a shell: bash, zsh or fish',
    examples: {
      'bash, for this session': 'source <(partnerctl completion bash)',
      'zsh, for this session': 'source <(partnerctl completion zsh)',
      'fish, permanently': 'partnerctl completion fish > ~/.config/fish/completions/partnerctl.fish',
    },
  }).argument('<shell>', 'bash, zsh or fish');
  return withAction(command, async (_, name) => {
    const known = Object.entries(completionScripts).find(([shell]) => shell === name);
    if (!known) throw usageError(`There is no completion for ${name}.`, 'Use bash, zsh or fish.');
    const [shell, script] = known;
    return { json: { shell, script }, text: script };
  });
}
