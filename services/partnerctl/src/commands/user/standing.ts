// `user show`, `disable`, `enable` and `sign-out`.

import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { Change } from '@course-exchange/proto/operator/v1/change';
import { type User, UserSchema, UserService } from '@course-exchange/proto/operator/v1/user';
import type { Call } from '../../frame/call.ts';
import { type Answer, command } from '../../frame/command.ts';
import { Problem } from '../../frame/problem.ts';
import type { Paint } from '../../frame/terminal.ts';
import { changesText, plainChanges } from '../../output/changes.ts';
import { dateOf, plain } from '../../output/plain.ts';
import { fields } from '../../output/tables.ts';
import { localTime } from '../../output/times.ts';
import { tokensEnd } from '../client/written.ts';
import { userName, userOperand } from './user-name.ts';

export const userShow = command({
  name: 'show',
  about: 'Show a user',
  operands: userOperand,
  options: {},
  examples: [{ does: 'By e-mail address', line: 'partnerctl user show ann@example.com' }],
  run: async (call, { user: words }) => {
    const { user } = await call.services.identity(UserService).getUser({ user: userName(words) });
    if (!user) throw new Problem(`There is no user ${words}.`, { exit: 'missing' });
    return { json: { user: plain(UserSchema, user) }, text: userText(user, call.terminal.paint) };
  },
});

export const userDisable = command({
  name: 'disable',
  about: 'Shut a user out from the next request on',
  details: 'Ends the browser sessions and refuses login, code exchange, refresh and user-info.',
  operands: userOperand,
  options: {},
  writes: true,
  asks: true,
  examples: [{ does: 'By sub', line: 'partnerctl user disable u_5mV3rT0kQ9o' }],
  run: async (call, { user: words }) => {
    await call.confirm(`${words} will be logged out everywhere and cannot log in.`);
    const answer = await call.services
      .identity(UserService)
      .disableUser({ user: userName(words), dryRun: call.dryRun });
    return userAnswer(call, answer);
  },
});

export const userEnable = command({
  name: 'enable',
  about: 'Let a user log in again',
  details: 'Connections from before the disabling that were not tried meanwhile go on; `sign-out` ends them.',
  operands: userOperand,
  options: {},
  writes: true,
  examples: [{ does: 'By e-mail address', line: 'partnerctl user enable ann@example.com' }],
  run: async (call, { user: words }) =>
    userAnswer(
      call,
      await call.services.identity(UserService).enableUser({ user: userName(words), dryRun: call.dryRun }),
    ),
});

export const userSignOut = command({
  name: 'sign-out',
  about: 'End all browser sessions and refresh tokens of a user',
  details: 'The user may log in and connect again.',
  operands: userOperand,
  options: {},
  writes: true,
  asks: true,
  examples: [{ does: 'After a lost laptop', line: 'partnerctl user sign-out ann@example.com' }],
  run: async (call, { user: words }) => {
    await call.confirm(`${words} will be logged out everywhere and must connect every partner anew.`);
    const answer = await call.services
      .identity(UserService)
      .signOutUser({ user: userName(words), dryRun: call.dryRun });
    return userAnswer(call, answer);
  },
});

function userAnswer(
  call: Call,
  answer: {
    readonly user?: User | undefined;
    readonly changes: readonly Change[];
    readonly accessTokensEndAt?: Timestamp | undefined;
  },
): Answer {
  const { user, changes, accessTokensEndAt } = answer;
  return {
    json: {
      dryRun: call.dryRun,
      user: user ? plain(UserSchema, user) : null,
      changes: plainChanges(changes),
      accessTokensEndAt: dateOf(accessTokensEndAt)?.toISOString() ?? null,
    },
    text: changesText(changes, call.dryRun, call.terminal.paint) + tokensEnd(accessTokensEndAt, call),
  };
}

function userText(user: User, paint: Paint): string {
  const disabled = dateOf(user.disabledAt);
  const signedOut = dateOf(user.signedOutAt);
  return fields(
    [
      ['User', user.sub],
      ['E-mail', `${user.email} (${user.emailVerified ? 'verified' : 'not verified'})`],
      ['Name', user.name || '–'],
      ['Standing', disabled ? `disabled since ${localTime(disabled)}` : 'may log in'],
      ['Signed out', signedOut ? `whatever is from before ${localTime(signedOut)}` : undefined],
      ['Password', user.passwordAlgorithm],
      ['Since', localTime(dateOf(user.createdAt))],
    ],
    paint,
  );
}
