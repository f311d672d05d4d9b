// What a target is: a system that runs, faults that can be done to its parts, and an operator.
import type { DemoUser, StackFile } from '../../support/stack-file.ts';
import type { FaultName, PartName, Row } from '../table.ts';

export interface Target {
  readonly stack: StackFile;
  /** Families that are refreshed, of each of two persons; the consent of the second is withdrawn now and then. */
  readonly families?: readonly [number, number];
  /** Does what the row says; resolves when that is complete. What it gives undoes it, and resolves when `ends` is observed. */
  readonly strike: (row: Row) => Promise<() => Promise<unknown>>;
  /** Withdraws the consent of a user with a client; resolves when that was acknowledged. */
  readonly withdraw: (user: DemoUser, clientId: string) => Promise<unknown>;
  readonly stop: () => Promise<unknown>;
}

export type Undo = () => Promise<unknown>;
/** How a target does each fault that its rows name. */
export type Faults = Readonly<Partial<Record<FaultName, (part: PartName) => Promise<Undo>>>>;

export async function strikeWith(faults: Faults, { fault, part }: Row): Promise<Undo> {
  const strike = faults[fault];
  if (strike === undefined) throw new Error(`Nothing here can be ${fault}.`);
  return strike(part);
}
