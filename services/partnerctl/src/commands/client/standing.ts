// `client approve`, `activate` and `deactivate`: whether a client may act.
import { ApprovalState, ClientService } from '@course-exchange/proto/operator/v1/client';
import { approvalStates, approvalWord, approvalWords } from '../../dossier/states.ts';
import { command } from '../../frame/command.ts';
import { choice, text } from '../../frame/options.ts';
import { Problem } from '../../frame/problem.ts';
import { clientAnswer, tokensEnd } from './written.ts';

const client = { clientId: { term: '<client-id>', about: 'The client' } } as const;

const nextState: Readonly<Record<number, ApprovalState>> = {
  [ApprovalState.DRAFT]: ApprovalState.TEST,
  [ApprovalState.TEST]: ApprovalState.APPROVED,
};

export const clientApprove = command({
  name: 'approve',
  about: 'Move a client one step up: draft, test, approved',
  details:
    'A step up needs a dossier without gaps for it. --to names a state instead, also a lower one. Who approved when, and the note, stay with the client.',
  operands: client,
  options: {
    to: choice('<state>', approvalWords, 'The state to move to'),
    note: text('<text>', 'Why, or under which agreement'),
  },
  writes: true,
  examples: [
    { does: 'The next step', line: 'partnerctl client approve acme --note "Agreement 2026-11"' },
    { does: 'Back to draft', line: 'partnerctl client approve acme --to draft' },
  ],
  run: async (call, { clientId }, { to, note }) => {
    const clients = call.services.identity(ClientService);
    const { client: present } = await clients.getClient({ clientId });
    const state = to === undefined ? nextState[present?.approvalState ?? 0] : approvalStates[to];
    if (state === undefined) {
      throw new Problem(`${clientId} is approved already.`, {
        exit: 'refused',
        advice: 'There is no step above it.',
      });
    }
    const answer = await clients.setApprovalState({
      clientId,
      state,
      note: note ?? '',
      expectedVersion: present?.version ?? 0,
      dryRun: call.dryRun,
    });
    return clientAnswer(
      call,
      answer,
      call.dryRun ? '' : `${clientId} is in the state ${approvalWord(state)}.\n`,
    );
  },
});

export const clientActivate = command({
  name: 'activate',
  about: 'Let a client act from its next request on',
  operands: client,
  options: {},
  writes: true,
  examples: [{ does: 'After its approval', line: 'partnerctl client activate acme' }],
  run: async (call, { clientId }) =>
    clientAnswer(
      call,
      await call.services.identity(ClientService).activateClient({ clientId, dryRun: call.dryRun }),
    ),
});

export const clientDeactivate = command({
  name: 'deactivate',
  about: 'Refuse a client from its next request on',
  details: 'Its users stay connected: `activate` lets it go on, unless it gave up its tokens meanwhile.',
  operands: client,
  options: {},
  writes: true,
  asks: true,
  examples: [
    { does: 'What would change', line: 'partnerctl client deactivate acme --dry-run' },
    { does: 'In a script', line: 'partnerctl client deactivate acme --yes' },
  ],
  run: async (call, { clientId }) => {
    await call.confirm(`Every call of ${clientId} will fail from now on.`);
    const answer = await call.services
      .identity(ClientService)
      .deactivateClient({ clientId, dryRun: call.dryRun });
    return clientAnswer(call, answer, tokensEnd(answer.accessTokensEndAt, call));
  },
});
