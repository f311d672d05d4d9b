// The words for approval states and environments in files, options and answers.
import { ApprovalState, Environment } from '@course-exchange/proto/operator/v1/client';

export const approvalStates = {
  draft: ApprovalState.DRAFT,
  test: ApprovalState.TEST,
  approved: ApprovalState.APPROVED,
} as const;
export type ApprovalWord = keyof typeof approvalStates;
export const approvalWords = ['draft', 'test', 'approved'] as const;

export const environments = { test: Environment.TEST, production: Environment.PRODUCTION } as const;
export type EnvironmentWord = keyof typeof environments;
export const environmentWords = ['test', 'production'] as const;

export function approvalWord(state: ApprovalState): ApprovalWord | undefined {
  return approvalWords.find((word) => approvalStates[word] === state);
}

export function environmentWord(environment: Environment): EnvironmentWord | undefined {
  return environmentWords.find((word) => environments[word] === environment);
}
