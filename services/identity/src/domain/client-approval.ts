// How far a client's approval has come, and what each state allows. The token and authorization endpoints look
// at `active` alone; these rules decide who may become so.
import { type Dossier, dossierGaps, type Environment } from './dossier.ts';

const approvalStates = ['draft', 'test', 'approved'] as const;
export type ApprovalState = (typeof approvalStates)[number];

/** The part of a client that operators change. */
export interface ClientState {
  readonly dossier: Dossier;
  readonly active: boolean;
  readonly approvalState: ApprovalState;
}

/** Why `client` may not be active in `environment`, in one sentence; undefined when it may. */
export function activationObstacle(
  { dossier, approvalState }: ClientState,
  environment: Environment,
): string | undefined {
  const allowed = environment === 'production' ? approvalState === 'approved' : approvalState !== 'draft';
  if (allowed) return undefined;
  const needed = environment === 'production' ? 'approved' : 'test or approved';
  return `Client ${dossier.clientId} is in the state ${approvalState}; it must be ${needed} to be active in ${environment}.`;
}

/** Why `client` may not move to `next`, a sentence each; empty when it may. One step up, any way down. */
export function approvalObstacles({ dossier, approvalState }: ClientState, next: ApprovalState): string[] {
  const steps = approvalStates.indexOf(next) - approvalStates.indexOf(approvalState);
  if (steps <= 0) return [];
  if (steps > 1) return ['It is a draft and must be in the state test first.'];
  const gaps = dossierGaps(dossier);
  return next === 'approved' ? gaps : gaps.filter((gap) => gap.startsWith('The technical contact'));
}

/** `client` in the state `next`; it stops being active where that state does not allow it. */
export function withApproval<C extends ClientState>(
  client: C,
  next: ApprovalState,
  environment: Environment,
): C {
  const moved = { ...client, approvalState: next };
  return { ...moved, active: moved.active && activationObstacle(moved, environment) === undefined };
}

/** The states on the way from `from` to `to`, without `from`. */
export function approvalPath(from: ApprovalState, to: ApprovalState): readonly ApprovalState[] {
  const [start, end] = [approvalStates.indexOf(from), approvalStates.indexOf(to)];
  return end <= start ? (end === start ? [] : [to]) : approvalStates.slice(start + 1, end + 1);
}
