// `completion`: prints the script that teaches a shell the commands.
import { completionScripts, shells } from '../completion/scripts.ts';
import { command } from '../frame/command.ts';
import { usageProblem } from '../frame/problem.ts';

export const completion = command({
  name: 'completion',
  about: 'Print the completion script of a shell: bash, zsh or fish',
  operands: { shell: { term: '<shell>', about: 'bash, zsh or fish' } },
  options: {},
  examples: [
    { does: 'bash, for this session', line: 'source <(partnerctl completion bash)' },
    { does: 'zsh, for this session', line: 'source <(partnerctl completion zsh)' },
    {
      does: 'fish, for good',
      line: 'partnerctl completion fish > ~/.config/fish/completions/partnerctl.fish',
    },
  ],
  run: async (_, { shell: word }) => {
    const shell = shells.find((one) => one === word);
    if (!shell) throw usageProblem(`There is no completion for ${word}.`, `Say one of ${shells.join(', ')}.`);
    return { json: { shell, script: completionScripts[shell] }, text: completionScripts[shell] };
  },
});
