// routes/ is the public endpoints: each turns a request into a call of identity or design-catalog, and the answer into a response. It
// decides nothing of OAuth.

// Every public route; docs/routes.md is generated from it.
import type { Route } from '../http/route.ts';
import type { Services } from '../services.ts';
import { stylesheetRoute } from '../stylesheet.ts';
import { authorizeRoutes } from './authorize.ts';
import type { BrowserRouteDeps } from './browser.ts';
import { discoveryRoutes } from './discovery.ts';
import { choiceRoutes, pageRoutes } from './interaction.ts';
import { loginRoute } from './login.ts';
import { resourceRoutes } from './resources.ts';
import { signOutRoutes } from './sign-out.ts';
import { tokenRoute } from './token.ts';
import { userinfoRoutes } from './userinfo.ts';

export function allRoutes(services: Services, browser: BrowserRouteDeps): readonly Route[] {
  return [
    ...discoveryRoutes(services),
    ...resourceRoutes(services),
    ...userinfoRoutes(services),
    tokenRoute(services),
    ...authorizeRoutes(browser),
    ...pageRoutes(browser),
    loginRoute(browser),
    ...choiceRoutes(browser),
    ...signOutRoutes(browser),
    stylesheetRoute,
  ];
}
