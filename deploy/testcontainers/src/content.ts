// Partners and users of a started system, as a test wants them.
import { newSecret } from './stores.ts';

export interface PartnerOptions {
  /** One or several; `http` for a loopback address alone. */
  readonly redirectUri: string | readonly [string, ...string[]];
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Default: all of `openid email profile`. */
  readonly scopes?: readonly ('openid' | 'email' | 'profile')[];
  /** As users see it. */
  readonly name?: string;
}

export interface UserOptions {
  /** Number of events, with twelve designs each; default 0. */
  readonly events?: number;
  readonly email?: string;
  readonly password?: string;
  readonly name?: string;
  readonly emailVerified?: boolean;
  /** May not log in. */
  readonly disabled?: boolean;
}

export interface Partner {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUris: readonly [string, ...string[]];
  readonly scopes: readonly string[];
  readonly name: string;
}

export interface User extends Required<UserOptions> {
  readonly sub: string;
}

export type AtLeastOne<T> = readonly [T, ...T[]];

export interface Content {
  readonly partners: AtLeastOne<Partner>;
  readonly users: AtLeastOne<User>;
}

export function partnerOf(
  number: number,
  {
    redirectUri,
    clientId = `partner-${number}`,
    clientSecret = newSecret(),
    scopes = ['openid', 'email', 'profile'],
    name = `Partner ${number}`,
  }: PartnerOptions,
): Partner {
  const redirectUris = typeof redirectUri === 'string' ? ([redirectUri] as const) : redirectUri;
  return { clientId, clientSecret, redirectUris, scopes, name };
}

export function userOf(
  number: number,
  {
    email = `user-${number}@example.com`,
    password = newSecret(),
    name = `User ${number}`,
    emailVerified = true,
    disabled = false,
    events = 0,
  }: UserOptions,
): User {
  return { sub: newSecret().slice(0, 22), email, password, name, emailVerified, disabled, events };
}

export function atLeastOne<T>([first, ...rest]: readonly T[], preset: () => T): AtLeastOne<T> {
  return [first ?? preset(), ...rest];
}
