// What partners, people and operators do with a system, well and badly, with a canary for each kind of R27 in it.
import { withClient } from '@course-exchange/local-stack/postgres';
import { FeedService } from '@course-exchange/proto/feed/v1';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { SecretService } from '@course-exchange/proto/operator/v1/secret';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { Redis } from 'ioredis';
import {
  authorizeUrl,
  basic,
  logIn,
  logInAndAgree,
  openCaller,
  pkce,
  token,
  tokensOf,
} from '../support/flow.ts';
import { callService, refusalOf } from '../support/grpc-client.ts';
import { send } from '../support/http.ts';
import type { Partner } from '../support/stack-file.ts';
import type { System } from '../support/system.ts';
import { openUserAgent, type Page } from '../support/user-agent.ts';

export type Flows = Awaited<ReturnType<typeof openFlows>>;

/** As it is sent in an `Authorization` header, without the scheme. */
function credentialsOf(partner: Partner): string {
  return basic(partner).authorization.replace('Basic ', '');
}

export async function openFlows(system: System) {
  const { issuer } = system.stack;
  const caller = await openCaller(system.stack);
  const { discovery, partner, user, refresh } = caller;
  /** What must be found nowhere, by kind. */
  const canaries = new Map<string, string>();

  function canary(kind: string, value: string): string {
    if (value.length < 8) throw new Error(`${kind} is too short to search for`);
    canaries.set(`${kind} ${canaries.size}`, value);
    return value;
  }

  for (const kind of ['email', 'name', 'password', 'sub'] as const) canary(kind, user[kind]);
  canary('client secret', partner.clientSecret);
  canary('credentials', credentialsOf(partner));

  async function login() {
    const { verifier, challenge } = pkce();
    canary('verifier', verifier);
    const agent = openUserAgent(issuer);
    const form = await caller.codeForm(agent, {
      state: canary('state', `canary-state-${canaries.size}`),
      nonce: canary('nonce', `canary-nonce-${canaries.size}`),
      login_hint: canary('login hint', 'canary.hint@example.org'),
      code_challenge: canary('challenge', challenge),
      code_challenge_method: 'S256',
    });
    for (const cookie of agent.cookies.values()) canary('cookie', cookie.value);
    canary('code', form.code ?? '');
    const exchange = { ...form, code_verifier: verifier };
    const tokens = tokensOf(await caller.ask(exchange));
    for (const value of [tokens.access_token, tokens.refresh_token, tokens.id_token ?? ''])
      canary('token', value);
    for (const part of tokens.access_token.split('.').slice(1)) canary('part of a token', part);
    return { tokens, exchange };
  }

  const asking = authorizeUrl(discovery.authorization_endpoint, partner, { prompt: 'consent' });

  async function refuse(): Promise<void> {
    const agent = openUserAgent(issuer);
    await logInAndAgree(agent, await agent.visit(asking), user, { decision: 'deny' });
  }

  async function failToLogIn(): Promise<void> {
    const agent = openUserAgent(issuer, { from: '127.0.66.1' });
    const page = (await agent.visit(asking)) as Page;
    for (let attempt = 0; attempt < 7; attempt++) {
      const unknown = canary('unknown e-mail', `canary.unknown.${attempt}@example.org`);
      for (const email of [unknown, user.email])
        await logIn(agent, page, { email, password: canary('guess', `canary wrong ${attempt} of ${email}`) });
    }
  }

  async function misuse({ tokens, exchange }: Awaited<ReturnType<typeof login>>): Promise<void> {
    await caller.ask(exchange);
    const wrong = canary('wrong verifier', 'canary-verifier-'.padEnd(43, 'v'));
    await caller.ask({ ...exchange, code_verifier: wrong });
    await caller.ask({ ...exchange, code: canary('wrong code', 'canary-code'.padEnd(65, 'c')) });
    await askWith(canary('wrong secret', 'canary-wrong-client-secret'));
    const bearer = canary('wrong bearer', `canary.${'b'.repeat(40)}.token`);
    for (const accessToken of [tokens.access_token, bearer, tokens.id_token ?? '']) {
      const cookie = canary('cookie', `session=canary-cookie-${canaries.size}`);
      const headers = { authorization: `Bearer ${accessToken}`, cookie };
      for (const path of ['/api/events', `/api/events/c2Vhc29u/designs?access_token=${accessToken}`])
        await send(`${issuer}${path}`, { headers });
      await send(discovery.userinfo_endpoint, { headers });
    }
    const query = `client_secret=${canary('query', 'canary-in-the-query')}`;
    await send(`${discovery.token_endpoint}?${query}`, { form: {} });
    await send(`${issuer}/${canary('path', 'canary-in-an-unknown-path')}`);
    for (const _again of [1, 2]) await refresh(tokens.refresh_token);
  }

  /** A token request with this secret. */
  function askWith(clientSecret: string) {
    const client = { ...partner, clientSecret };
    canary('credentials', credentialsOf(client));
    return token(discovery.token_endpoint, client, { grant_type: 'refresh_token', refresh_token: 'none' });
  }

  /** What operators and the feed bring in, taken and refused: a partner's contacts, the secrets it is given, its users' designs. */
  async function operate(): Promise<void> {
    const { operator } = system.stack;
    const given = {
      ...{ clientId: 'canary-partner', name: 'Canary partner', scopes: ['openid'], userJourney: 'j' },
      ...{ logoutRequirements: 'l', unlinkingRequirements: 'u', retentionRequirements: 'r' },
      technicalContact: {
        name: canary('name of a contact', 'Canary Contact'),
        email: canary('e-mail of a contact', 'canary.contact@example.org'),
      },
      credentialContacts: [{ name: 'Contact', email: 'contact@example.org' }],
      environments: [{ redirectUris: ['https://canary.example/callback'] }],
    };
    const clients = callService(ClientService, `${operator?.identity}`);
    const { secret } = await clients.registerClient({ registration: given, withSecret: true });
    const { clientId } = partner;
    const secrets = callService(SecretService, `${operator?.identity}`);
    const added = await secrets.addSecret({ clientId, expiresIn: { seconds: 86_400n } });
    for (const made of [secret, added.secret])
      await askWith(canary('secret by an operator', `${made?.plainSecret}`));
    await refusalOf(clients.registerClient({ registration: given }));
    await secrets.retireSecret({ clientId, secretId: added.secret?.secretId ?? '', evenIfInUse: true });
    await feed();
  }

  async function feed(): Promise<void> {
    const address = `${system.stack.operator?.catalog}`;
    const change = (id: string, end: string) => ({
      position: 1n,
      owner: canary('owner of a design', `canary-owner-${id}`),
      id: canary('id of a design', `canary-design-${id}`),
      revision: 1n,
      change: {
        case: 'upsert',
        value: {
          title: canary('title of a design', `Canary title ${id}`) + end,
          eventName: canary('name of an event', `Canary event ${id}`),
          shortDescr: canary('text of a design', `Canary text ${id}`),
          eventId: 'canary',
        },
      } as const,
    });
    async function* batch(id: string, end = '') {
      yield { source: 'canary', changes: [change(id, end)] };
    }
    await callService(FeedService, address).apply(batch('taken'));
    await refusalOf(callService(FeedService, address).apply(batch('refused', '\0')));
  }

  /** What a driver throws holds what it was given: a row in Postgres' words, a command's arguments in an error of Redis. */
  async function failInTheDrivers(): Promise<void> {
    const { postgres = '', redis = '', operator } = system.stack;
    const onPostgres = (text: string) => withClient(postgres, (client) => client.query(text));
    await onPostgres(`create function quote_user() returns trigger language plpgsql as
      $$ begin raise exception 'refused: % %', new.email, new.name; end $$;
      create trigger quote_user before insert on identity.users for each row execute function quote_user()`);
    const imported = {
      line: 1n,
      email: canary('imported e-mail', 'canary.imported@example.org'),
      name: canary('imported name', 'Canary Imported'),
      passwordHash: canary('imported hash', `$2b$10$${'.'.repeat(53)}`),
    };
    const users = callService(UserService, `${operator?.identity}`);
    const refused = await refusalOf(users.importUsers({ users: [imported] }));
    if (refused.errorCode !== 'server_error')
      throw new Error(`the import is refused with ${refused.errorCode}`);
    await onPostgres('drop function quote_user cascade');
    const admin = new Redis(redis);
    await admin.config('SET', 'maxmemory', 1);
    await login().catch(() => undefined);
    await admin.config('SET', 'maxmemory', 0);
    admin.disconnect();
  }

  /** Throws where `text` holds a canary, as it is or as in an address. */
  function expectNone(text: string, where: string): void {
    for (const [kind, value] of canaries)
      if (text.includes(value) || text.includes(encodeURIComponent(value)))
        throw new Error(`${kind} in ${where}`);
  }

  return { ...caller, canaries, expectNone, login, refuse, failToLogIn, misuse, operate, failInTheDrivers };
}
