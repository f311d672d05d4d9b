// TokenService.GetUserInfo: translation only.
import type { TokenService } from '@course-exchange/proto/identity/v1/token';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import { getUserInfo, type UserInfoEndpoint } from '../grants/user-info.ts';

export function getUserInfoHandler(endpoint: UserInfoEndpoint): Handlers<typeof TokenService>['getUserInfo'] {
  return async (_request, { authorization }) => {
    const { sub, email, emailVerified, name } = await getUserInfo(endpoint, authorization);
    return { sub, email, emailVerified, name };
  };
}
