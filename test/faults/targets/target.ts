// What a target is: a system that runs, faults that can be done to its parts, and an operator.
import type { DemoUser, StackFile } from '../../support/stack-file.ts';
import type { FaultName, PartName } from '../table.ts';

export type Undo = () => Promise<unknown>;

export interface Target {
  readonly stack: StackFile;
  /** Families that are refreshed, of each of two persons; the consent of the second is withdrawn now and then. */
  readonly families?: readonly [number, number];
  /**
   * How each fault of its rows is done to a part; resolves when that is complete. What it gives undoes it, and resolves when
   * the row's `ends` is observed.
   */
  readonly faults: Readonly<Partial<Record<FaultName, (part: PartName) => Promise<Undo>>>>;
  /** Withdraws the consent of a user with a client; resolves when that was acknowledged. */
  readonly withdraw: (user: DemoUser, clientId: string) => Promise<unknown>;
  /** Directory of its processes' logs. */
  readonly logs?: string;
  readonly stop?: () => Promise<unknown>;
}
