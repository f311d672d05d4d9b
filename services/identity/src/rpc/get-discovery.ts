// DiscoveryService.GetDiscovery: constants and the configured issuer; no store is asked.
import type { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import { capabilities } from '../domain/discovery.ts';

export function getDiscoveryHandler(issuer: string): Handlers<typeof DiscoveryService>['getDiscovery'] {
  const discovery = { issuer, ...capabilities };
  return () => Promise.resolve(discovery);
}
