// The whole system in containers, for the tests of an integrator. It owns every container and the network that it starts,
// and removes them, also when a start fails halfway.
import { randomUUID } from 'node:crypto';
import { getContainerRuntimeClient, type StartedNetwork, type StartedTestContainer } from 'testcontainers';
import { type Credentials, visit } from './browser.ts';
import { defaultImages, type Images, requireImages } from './images.ts';
import { newSecret, removeAll, type Stores, startNetwork, startStores } from './stores.ts';
import { fill, type ServiceName, type System, type SystemOptions, startServices } from './system.ts';

export type { Images, ServiceName };

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
  /** So many events of twelve designs each; default 0. */
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

export interface Authorization {
  readonly code: string;
  /** Where the browser is sent back to: the redirect URI with `code` and `state`. */
  readonly callback: URL;
}

type AtLeastOne<T> = readonly [T, ...T[]];

interface Content {
  readonly partners: AtLeastOne<Partner>;
  readonly users: AtLeastOne<User>;
}

export class CourseExchange {
  #images = defaultImages;
  #environment: NonNullable<SystemOptions['environment']> = {};
  #port: number | undefined;
  #stores: Stores | undefined;
  readonly #partners: Partner[] = [];
  readonly #users: User[] = [];

  /** The default: `course-exchange/NAME` of this package's version, `postgres:18`, `redis:8`; or as variables say. */
  withImages(images: Partial<Images>): this {
    this.#images = { ...this.#images, ...images };
    return this;
  }

  /** A registered and active client. Without one there is one at http://127.0.0.1:3000/callback. */
  withPartner(options: PartnerOptions): this {
    this.#partners.push(partnerOf(this.#partners.length + 1, options));
    return this;
  }

  /** Without one there is one who has an event. */
  withUser(options: UserOptions = {}): this {
    this.#users.push(userOf(this.#users.length + 1, options));
    return this;
  }

  /** Settings of a service (docs/settings.md), or of what fills the database (`seed`), above the usual ones. */
  withEnvironment(name: ServiceName | 'seed', environment: Readonly<Record<string, string>>): this {
    this.#environment = {
      ...this.#environment,
      [name]: { ...this.#environment[name], ...environment },
    };
    return this;
  }

  /** The issuer's port on this machine; otherwise a free one. */
  withPort(port: number): this {
    this.#port = port;
    return this;
  }

  /** Stores that are started already, empty but for the roles. The caller stops them, and their network. */
  withStores(stores: Stores): this {
    this.#stores = stores;
    return this;
  }

  /** Resolves when a partner can be served. Where it rejects, nothing is left behind. */
  async start(): Promise<StartedCourseExchange> {
    await requireEngine();
    await requireImages(this.#images);
    const content: Content = {
      partners: atLeastOne(this.#partners, () =>
        partnerOf(1, { redirectUri: 'http://127.0.0.1:3000/callback' }),
      ),
      users: atLeastOne(this.#users, () => userOf(1, { events: 1 })),
    };
    const labels = { 'course-exchange.testcontainers': randomUUID() };
    const options = { images: this.#images, labels, environment: this.#environment, port: this.#port };
    const given = this.#stores;
    const network = given?.network ?? (await startNetwork());
    const remove = () => removeAll(labels, given ? undefined : network);
    try {
      const stores = given ?? (await startStores(network, this.#images, labels));
      await fill(stores, content, options);
      const system = await startServices(stores, options);
      return new StartedCourseExchange(stores, system, content, remove);
    } catch (error) {
      try {
        await remove();
      } catch (left) {
        throw new Error(`${sentence(error)}\nWhat was started is left behind: ${sentence(left)}`, {
          cause: error,
        });
      }
      throw error;
    }
  }
}

function partnerOf(
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

function userOf(
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

function atLeastOne<T>([first, ...rest]: readonly T[], preset: () => T): AtLeastOne<T> {
  return [first ?? preset(), ...rest];
}

export class StartedCourseExchange implements AsyncDisposable {
  readonly issuer: string;
  /** The first of `partners`. */
  readonly partner: Partner;
  readonly partners: AtLeastOne<Partner>;
  readonly users: AtLeastOne<User>;
  readonly network: StartedNetwork;
  readonly containers: Readonly<Record<ServiceName | 'postgres' | 'redis', StartedTestContainer>>;
  readonly #remove: () => Promise<void>;
  #stopped: Promise<void> | undefined;

  constructor(stores: Stores, system: System, content: Content, remove: () => Promise<void>) {
    this.issuer = system.issuer;
    this.partner = content.partners[0];
    this.partners = content.partners;
    this.users = content.users;
    this.network = stores.network;
    this.containers = { ...stores.containers, ...system.containers };
    this.#remove = remove;
  }

  /**
   * What a browser would do: the user logs in and agrees. `request` is the address that your backend sends the browser to;
   * without it, a plain request of the first partner. Rejects where the answer is an error.
   */
  async authorize(user: Credentials, request?: string | URL): Promise<Authorization> {
    const callback = await visit(new URL(request ?? (await this.#plainRequest())), user);
    const code = callback.searchParams.get('code');
    if (code !== null) return { code, callback };
    throw new Error(`The answer to the authorization request is ${callback.searchParams.get('error')}.`);
  }

  /** The same, of a user who cancels: resolves with the callback that says `access_denied`. */
  async decline(request?: string | URL): Promise<URL> {
    return visit(new URL(request ?? (await this.#plainRequest())));
  }

  /** An operator's command (docs/cli.md): resolves with what it prints, rejects with what it says where it fails. */
  async partnerctl(...words: readonly string[]): Promise<string> {
    const { exitCode, stdout, output } = await this.containers.identity.exec(['partnerctl', ...words]);
    if (exitCode === 0) return stdout;
    throw new Error(`partnerctl ${words[0]} ended with ${exitCode}: ${output.trim()}`);
  }

  /** Removes every container, with its data, and the network; once, however often it is called. */
  async stop(): Promise<void> {
    this.#stopped ??= this.#remove();
    await this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #plainRequest(): Promise<URL> {
    const answer = await fetch(`${this.issuer}/.well-known/openid-configuration`);
    const { authorization_endpoint } = (await answer.json()) as { authorization_endpoint: string };
    const { clientId, redirectUris, scopes } = this.partner;
    const parameters = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUris[0],
      scope: scopes.join(' '),
    };
    return new URL(`${authorization_endpoint}?${new URLSearchParams(parameters)}`);
  }
}

async function requireEngine(): Promise<void> {
  await getContainerRuntimeClient().catch((error: unknown) => {
    throw new Error('No Docker engine answers: start one, or name one by DOCKER_HOST.', { cause: error });
  });
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
