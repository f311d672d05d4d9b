// UserService: translation only.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  UserSchema,
  UserService,
  UserName as WireUserName,
} from '@course-exchange/proto/operator/v1/user';
import type { IncomingCall } from '@course-exchange/runtime/grpc/incoming-call';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import type { AdminResult } from '../admin/context.ts';
import { accessTokensEndAt, adminRequest, changeMessages, timestamps } from '../admin/messages.ts';
import {
  disableUser,
  enableUser,
  getAccount,
  getAccountByHash,
  signOutUser,
  type UserContext,
  unthrottleUser,
} from './admin.ts';
import { type ImportContext, importUsers } from './import.ts';
import { passwordAlgorithm } from './password-hash.ts';
import { listSharedEmails, refoldUsers } from './refold.ts';
import type { UserAccount, UserName } from './user.ts';

export function createUserHandlers(context: UserContext & ImportContext): Handlers<typeof UserService> {
  const shown = ({ result, changes }: AdminResult<UserAccount>) => ({
    user: userMessage(result, context),
    changes: changeMessages(changes),
  });
  const asked = (
    request: { readonly user?: WireUserName | undefined; readonly dryRun: boolean },
    call: IncomingCall,
  ) => [context, adminRequest(call, request), readUserName(request.user)] as const;
  const ended = (done: AdminResult<UserAccount>) => ({ ...shown(done), ...accessTokensEndAt(context.now()) });
  return {
    importUsers: async (request, call) => {
      const records = request.users.map((user) => ({ ...user, line: Number(user.line) }));
      const asked = { ...adminRequest(call, request), keepSessions: request.keepSessions };
      const imported = await importUsers(context, asked, records);
      const rejected = imported.rejected.map(({ line, reason }) => ({ line: BigInt(line), reason }));
      return { ...imported, rejected };
    },
    getUser: async ({ user, userHash }) => {
      const found = userHash ? getAccountByHash(context, userHash) : getAccount(context, readUserName(user));
      return { user: userMessage(await found, context) };
    },
    disableUser: async (request, call) => ended(await disableUser(...asked(request, call))),
    enableUser: async (request, call) => shown(await enableUser(...asked(request, call))),
    signOutUser: async (request, call) => ended(await signOutUser(...asked(request, call))),
    unthrottleUser: async (request, call) => shown(await unthrottleUser(...asked(request, call))),
    refoldUsers: async (request, call) => {
      const { result } = await refoldUsers(context, adminRequest(call, request), request.after);
      const shared = result.last === '' ? await listSharedEmails(context.database) : [];
      return { ...result, shared: shared.map((subs) => ({ subs })) };
    },
  };
}

export function readUserName(user: WireUserName | undefined): UserName {
  if (user?.name.case === 'sub') return { sub: user.name.value };
  if (user?.name.case === 'email') return { email: user.name.value };
  throw new DetailedFailure('invalid_argument', 'The user is named neither by sub nor by e-mail.');
}

function userMessage(account: UserAccount, { keyedUser }: UserContext): MessageInitShape<typeof UserSchema> {
  const { sub, email, emailVerified, name, passwordHash, createdAt, disabledAt, signedOutAt } = account;
  return {
    sub,
    email,
    emailVerified,
    name,
    passwordAlgorithm: passwordAlgorithm(passwordHash),
    userHash: keyedUser(sub),
    ...timestamps({ createdAt, disabledAt, signedOutAt }),
  };
}
