// Every command of the tool, noun by noun, and what stands above them in help.
import { auditNoun } from './commands/audit/audit.ts';
import { clientNoun } from './commands/client/client.ts';
import { completion } from './commands/completion.ts';
import { consentNoun } from './commands/consent/consents.ts';
import { designsNoun } from './commands/designs/designs.ts';
import { keyNoun } from './commands/key/key.ts';
import { status } from './commands/status.ts';
import { userNoun } from './commands/user/user.ts';
import type { Root, Tree } from './frame/program.ts';

export const tree: Tree = [
  clientNoun,
  userNoun,
  consentNoun,
  keyNoun,
  auditNoun,
  designsNoun,
  status,
  completion,
];

export const root: Root = {
  about:
    'Operate course-exchange: clients, users, consents, signing keys, audit, designs. Every change is audited under your account. docs/operator.md is the runbook.',
  version: '0.1.0',
  examples: [
    { does: 'The installation at a glance', line: 'partnerctl status' },
    { does: 'On-board a partner from its dossier', line: 'partnerctl client register acme.yaml' },
    { does: 'What a command would change', line: 'partnerctl client deactivate acme --dry-run' },
  ],
};
