// The actions of the audit log. What `ends` something is done again by the restore fence (R33), unless what `restores`
// it came later; `changes` is neither.

const effects = {
  'client.register': 'changes',
  'client.edit': 'changes',
  'client.approval': 'changes',
  'client.activate': 'restores',
  'client.deactivate': 'ends',
  'secret.add': 'changes',
  'secret.retire': 'ends',
  'secret.suspend': 'ends',
  'secret.resume': 'restores',
  'key.stage': 'changes',
  'key.activate': 'changes',
  'key.supersede': 'changes',
  'key.retire': 'ends',
  'key.reencrypt': 'changes',
  'user.import': 'changes',
  'user.sign-out': 'changes',
  'user.disable': 'ends',
  'user.enable': 'restores',
  'consent.withdraw': 'changes',
  'restore.fence': 'changes',
} as const;

export type Action = keyof typeof effects;
export type EndingAction = { [A in Action]: (typeof effects)[A] extends 'ends' ? A : never }[Action];

/** Undefined for an action of another version. */
export function effectOf(action: string): 'changes' | 'ends' | 'restores' | undefined {
  return Object.hasOwn(effects, action) ? effects[action as Action] : undefined;
}
