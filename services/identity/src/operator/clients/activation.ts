// Whether a client may act: `active` is what the authorization and token endpoints look at, at each request.
import { activationObstacle } from '../../domain/client-approval.ts';
import type { RegisteredClient } from '../../store/postgres/registered-clients.ts';
import { type Desk, type Order, type Outcome, refused } from '../desk.ts';
import { changeClient } from './client-change.ts';
import type { ClientView } from './client-view.ts';

export interface Activation {
  readonly clientId: string;
  readonly active: boolean;
  /** 0: whatever the version is. */
  readonly expectedVersion: number;
}

/** Throws `not_found`, `conflict`, and `refused` where its approval does not allow it. Atomic. */
export async function setActive(
  desk: Desk,
  order: Order,
  { clientId, active, expectedVersion }: Activation,
): Promise<Outcome<ClientView>> {
  return changeClient(desk, order, {
    action: active ? 'client.activate' : 'client.deactivate',
    clientId,
    expectedVersion,
    change: (client) => withActive(desk, client, active),
  });
}

/** Throws `refused`. */
export function withActive(desk: Desk, client: RegisteredClient, active: boolean): RegisteredClient {
  const obstacle = active ? activationObstacle(client, desk.environment) : undefined;
  if (obstacle !== undefined) throw refused(obstacle);
  return { ...client, active };
}
