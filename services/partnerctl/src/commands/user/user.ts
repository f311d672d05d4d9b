// The noun `user`: brought in from elsewhere, looked at, shut out, signed out.
import type { Noun } from '../../frame/command.ts';
import { userImport } from './import.ts';
import { userDisable, userEnable, userShow, userSignOut } from './standing.ts';

export const userNoun: Noun = {
  name: 'user',
  about: 'Users: import, look, shut out, sign out',
  examples: [
    { does: 'Bring users in', line: 'partnerctl user import users.ndjson' },
    { does: 'After a lost laptop', line: 'partnerctl user sign-out ann@example.com' },
  ],
  commands: [userImport, userShow, userDisable, userEnable, userSignOut],
};
