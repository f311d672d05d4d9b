// Every public route, in one list; docs name the same.
import type { Services } from '../wire/services.ts';
import { authorize } from './authorize.ts';
import { getDiscovery } from './get-discovery.ts';
import { getEventDesigns } from './get-event-designs.ts';
import { getEvents } from './get-events.ts';
import { getInteraction } from './get-interaction.ts';
import { getKeySet } from './get-key-set.ts';
import { getStylesheet } from './get-stylesheet.ts';
import { postAccount } from './post-account.ts';
import { postCancel } from './post-cancel.ts';
import { postConsent } from './post-consent.ts';
import { postLogin } from './post-login.ts';
import { postToken } from './post-token.ts';
import type { Route } from './route.ts';
import { signOut } from './sign-out.ts';
import type { Site } from './site.ts';
import { userinfo } from './userinfo.ts';

export function allRoutes(services: Services, site: Site): readonly Route[] {
  return [
    getDiscovery(services, site.now),
    getKeySet(services, site.now),
    getEvents(services),
    getEventDesigns(services),
    ...userinfo(services),
    postToken(services),
    ...authorize(site),
    ...getInteraction(site),
    postLogin(site),
    postAccount(site),
    postConsent(site),
    postCancel(site),
    ...signOut(site),
    getStylesheet(),
  ];
}
