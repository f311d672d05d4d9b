// The noun `client`: partners' clients from dossier to approval, and their secrets.
import type { Noun } from '../../frame/command.ts';
import { secretNoun } from '../secret/secrets.ts';
import { clientApply, clientExport, clientPlan } from './declared.ts';
import { clientEdit } from './edit.ts';
import { clientList, clientShow } from './look.ts';
import { clientRegister } from './register.ts';
import { clientActivate, clientApprove, clientDeactivate } from './standing.ts';

export const clientNoun: Noun = {
  name: 'client',
  about: "Partners' clients: dossier, approval, secrets",
  examples: [
    {
      does: 'On-board a partner',
      line: 'partnerctl client register acme.yaml --with-secret --to-file acme.secret',
    },
    { does: 'What needs a look', line: 'partnerctl client list' },
  ],
  commands: [
    clientRegister,
    clientList,
    clientShow,
    clientEdit,
    clientApprove,
    clientActivate,
    clientDeactivate,
    secretNoun,
    clientPlan,
    clientApply,
    clientExport,
  ],
};
