// The whole system in containers, for the tests of an integrator. It owns every container and the network that it starts,
// and removes them, also when a start fails halfway.
import { randomUUID } from 'node:crypto';
import { getContainerRuntimeClient, type StartedNetwork, type StartedTestContainer } from 'testcontainers';
import { type Credentials, visit } from './browser.ts';
import {
  type AtLeastOne,
  atLeastOne,
  type Content,
  type Partner,
  type PartnerOptions,
  partnerOf,
  type User,
  type UserOptions,
  userOf,
} from './content.ts';
import { defaultImages, type Images, requireImages } from './images.ts';
import { type RehearsalProxy, startRehearsalProxy } from './rehearsal/proxy.ts';
import { DutyBroken, rehearse } from './rehearsal/rehearse.ts';
import type { ScenarioName } from './rehearsal/scenarios.ts';
import { removeAll, type Stores, startNetwork, startStores } from './stores.ts';
import {
  fill,
  originOf,
  type ServiceName,
  type Services,
  type SystemOptions,
  startServices,
} from './system.ts';

export type { Images, Partner, PartnerOptions, ScenarioName, ServiceName, User, UserOptions };
export { DutyBroken };

export interface Authorization {
  readonly code: string;
  /** The redirect URI with `code` and `state`, to which the browser is sent back. */
  readonly callback: URL;
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

  /** A registered and active client. The default is one at http://127.0.0.1:3000/callback. */
  withPartner(options: PartnerOptions): this {
    this.#partners.push(partnerOf(this.#partners.length + 1, options));
    return this;
  }

  /** The default is a user who has an event. */
  withUser(options: UserOptions = {}): this {
    this.#users.push(userOf(this.#users.length + 1, options));
    return this;
  }

  /** Settings of a service (docs/settings.md), or of what fills the database (`seed`), above the usual ones. */
  withEnvironment(name: ServiceName | 'seed', environment: Readonly<Record<string, string>>): this {
    this.#environment = { ...this.#environment, [name]: { ...this.#environment[name], ...environment } };
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

  /** Resolves when a partner can be served. A rejection leaves nothing behind. */
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
    const options = { images: this.#images, labels, environment: this.#environment };
    const given = this.#stores;
    let services: Services | undefined;
    let proxy: RehearsalProxy | undefined;
    const network = given?.network ?? (await startNetwork());
    const remove = async () => {
      await proxy?.stop();
      await removeAll(labels, given ? undefined : network);
    };
    try {
      proxy = await startProxy(this.#port, () => services && originOf(services.gateway));
      const stores = given ?? (await startStores(network, this.#images, labels));
      await fill(stores, content, options);
      services = await startServices(`http://127.0.0.1:${proxy.port}`, stores, options);
      return new StartedCourseExchange(stores, services, proxy, content, remove);
    } catch (error) {
      await remove().catch((left) => {
        const message = `${sentence(error)}\nWhat was started is left behind: ${sentence(left)}`;
        throw new Error(message, { cause: error });
      });
      throw error;
    }
  }
}

export class StartedCourseExchange implements AsyncDisposable {
  readonly issuer: string;
  /** The first of `partners`. */
  readonly partner: Partner;
  readonly partners: AtLeastOne<Partner>;
  readonly users: AtLeastOne<User>;
  readonly network: StartedNetwork;
  readonly containers: Readonly<Record<ServiceName | 'postgres' | 'redis', StartedTestContainer>>;
  readonly #proxy: RehearsalProxy;
  readonly #remove: () => Promise<void>;
  #stopped: Promise<void> | undefined;

  constructor(
    stores: Stores,
    services: Services,
    proxy: RehearsalProxy,
    content: Content,
    remove: () => Promise<void>,
  ) {
    this.#proxy = proxy;
    this.issuer = `http://127.0.0.1:${proxy.port}`;
    this.partner = content.partners[0];
    this.partners = content.partners;
    this.users = content.users;
    this.network = stores.network;
    this.containers = { ...stores.containers, ...services };
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

  /**
   * Plays a failure of a real server (docs/rehearsals.md) while `work` runs, and checks your requests. Rejects with
   * DutyBroken, which names each duty that was broken; with what `work` rejects with; and if nothing came to play it at.
   */
  async rehearse(scenario: ScenarioName, work: () => unknown): Promise<void> {
    await rehearse(this.#proxy, scenario, work);
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

async function startProxy(port: number | undefined, target: () => string | undefined) {
  return startRehearsalProxy(() => target() ?? 'http://127.0.0.1:1', port).catch((cause) => {
    throw new Error(
      `Port ${port} is in use: end what listens there, or name no port and get one that is free.`,
      { cause },
    );
  });
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
