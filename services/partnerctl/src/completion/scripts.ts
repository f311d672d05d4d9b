// The shells' side of completion: each script asks `partnerctl __complete` for the words that may come next.

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

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

export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
