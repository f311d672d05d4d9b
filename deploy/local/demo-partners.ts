// The demo partners, the same at every run. Their secrets are public: they open local demo data alone.
import { createHash } from 'node:crypto';
import type { Partner } from './seed-form.ts';

/** 256 bits as base64url, the same for the same name. */
function demoSecret(name: string): string {
  return createHash('sha256').update(`course-exchange demo secret of ${name}`).digest('base64url');
}

function partner(
  clientId: string,
  name: string,
  scopes: readonly string[],
  redirectUris: readonly string[],
  active = true,
): Partner {
  return { name, clientId, clientSecret: demoSecret(clientId), redirectUris, scopes, active };
}

const allScopes = ['openid', 'email', 'profile'];

/** Nothing of ours listens here: for clients under test, which look at the redirect alone. */
export const silentCallback = 'http://127.0.0.1:9099/callback';

export const demoPartnerClientId = 'paddock-planner';

/** `demoPartnerUrl` is where the demo partner runs this time. */
export function demoPartners(demoPartnerUrl: string): readonly Partner[] {
  return [
    partner(demoPartnerClientId, 'Paddock Planner', allScopes, [
      `${demoPartnerUrl}/callback`,
      silentCallback,
    ]),
    partner('ringside-results', 'Ringside Results', allScopes, [silentCallback]),
    partner('course-walk', 'Course Walk', ['openid'], [silentCallback]),
    partner('show-newsletter', 'Show Newsletter', ['email', 'profile'], [silentCallback]),
    partner('old-entries', 'Old Entries (closed)', allScopes, [silentCallback], false),
    partner(
      'stable-diary',
      'Stable Diary',
      ['openid', 'profile'],
      [silentCallback, 'http://127.0.0.1:9099/second/callback'],
    ),
  ];
}
