// The form of partners and users, in stack.json as in a --seed FILE.

export interface Partner {
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
  readonly active: boolean;
}

export interface Person {
  readonly email: string;
  readonly password: string;
  readonly sub: string;
  readonly name: string;
  readonly about: string;
  /** True when left out. */
  readonly emailVerified?: boolean;
  /** False when left out. */
  readonly disabled?: boolean;
}
