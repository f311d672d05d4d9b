// The noun `audit`: who changed what, and whether the log is whole.
import type { Noun } from '../../frame/command.ts';
import { auditList } from './list.ts';
import { auditVerify } from './verify.ts';

export const auditNoun: Noun = {
  name: 'audit',
  about: 'Who changed what, in a chain that shows every gap',
  examples: [
    { does: 'What happened today', line: 'partnerctl audit list --since 24h' },
    { does: 'Is the log whole?', line: 'partnerctl audit verify' },
  ],
  commands: [auditList, auditVerify],
};
