// UserService: translation only.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  UserSchema,
  UserService,
  UserName as WireUserName,
} from '@course-exchange/proto/operator/v1/user';
import { actorOf } from '@course-exchange/runtime/caller-name';
import { DetailedFailure } from '@course-exchange/runtime/failure';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import type { Desk, Outcome } from '../../operator/desk.ts';
import { disableUser, enableUser, getAccount, signOutUser } from '../../operator/users/accounts.ts';
import { importUsers } from '../../operator/users/import-users.ts';
import { passwordAlgorithm } from '../../passwords/password-scheme.ts';
import type { UserAccount, UserName } from '../../store/postgres/imported-users.ts';
import { orderOf } from './caller.ts';
import { changeMessages } from './change-message.ts';
import { optional } from './client-message.ts';
import { accessTokensEnd } from './times.ts';

export function createUserHandlers(desk: Desk): Handlers<typeof UserService> {
  const shown = ({ result, changes }: Outcome<UserAccount>) => ({
    user: userMessage(result),
    changes: changeMessages(changes),
  });
  const ended = (outcome: Outcome<UserAccount>) => {
    const end = accessTokensEnd(desk.now());
    return { ...shown(outcome), ...(end ? { accessTokensEndAt: end } : {}) };
  };
  return {
    importUsers: async (request, call) => {
      const records = request.users.map((user) => ({ ...user, line: Number(user.line) }));
      const outcome = await importUsers(desk, orderOf(call, request), records);
      const rejected = outcome.rejected.map(({ line, reason }) => ({ line: BigInt(line), reason }));
      return { ...outcome, rejected };
    },
    getUser: async ({ user }, call) => {
      actorOf(call);
      return { user: userMessage(await getAccount(desk, readUserName(user))) };
    },
    disableUser: async (request, call) =>
      ended(await disableUser(desk, orderOf(call, request), readUserName(request.user))),
    enableUser: async (request, call) =>
      shown(await enableUser(desk, orderOf(call, request), readUserName(request.user))),
    signOutUser: async (request, call) =>
      ended(await signOutUser(desk, orderOf(call, request), readUserName(request.user))),
  };
}

/** Throws `invalid_argument` when neither sub nor e-mail is given. */
export function readUserName(user: WireUserName | undefined): UserName {
  if (user?.name.case === 'sub') return { sub: user.name.value };
  if (user?.name.case === 'email') return { email: user.name.value };
  throw new DetailedFailure('invalid_argument', 'The user is named neither by sub nor by e-mail.');
}

function userMessage(account: UserAccount): MessageInitShape<typeof UserSchema> {
  const { sub, email, emailVerified, name, passwordHash, createdAt, disabledAt, signedOutAt } = account;
  return {
    ...{ sub, email, emailVerified, name, passwordAlgorithm: passwordAlgorithm(passwordHash) },
    ...optional('createdAt', createdAt),
    ...optional('disabledAt', disabledAt),
    ...optional('signedOutAt', signedOutAt),
  };
}
