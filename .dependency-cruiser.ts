// The floors of architecture as rules: imports point down only, services never import one another. Type-only
// imports count too, unless a rule says otherwise. test/check/import-rules.test.ts proves that each rule fires.
import type { IConfiguration, IForbiddenRuleType } from 'dependency-cruiser';

const tests = '[.]test[.]ts$';
const services = '^services/(identity|design-catalog)/src/';
/** The layer of a file is its suffix: tables and stores hold the drivers, rpc and its messages hold the wire. */
const stores = '(?:-(?:table|store)|/redis/[^/]+)[.]ts$';
/** The files that hold a noun's rules and types, below its table or store. */
const nouns =
  `${services}(?:authorize/(?:interaction|request|response)|clients/(?:client|client-registration|scope|secret)|` +
  'conduct/conduct|consents/consent|events/event|feed/change|keys/signing-key|' +
  'login/(?:password|throttle)|refusals/reasons|token/(?:grant-record|jwt|pkce)|users/(?:password-hash|user))[.]ts$';
const rpc = '(?:/rpc/[^/]+|(?:/|-)(?:rpc|messages))[.]ts$';
/** What puts a process together. */
const main = '/src/(?:main|operator-port)[.]ts$';
/** The folders of a service, floor by floor from below. Its files beside them are the ground and the roof. */
const floors = {
  identity: [
    ['admin', 'redis'],
    ['clients', 'keys', 'refusals', 'users'],
    ['consents', 'login', 'restore', 'token'],
    ['authorize', 'conduct'],
    ['discovery'],
  ],
  'design-catalog': [['events'], ['feed', 'tokens']],
  gateway: [['http'], ['pages'], ['routes']],
  partnerctl: [['output'], ['connection'], ['cli'], ['files'], ['designs', 'secret', 'user'], ['client']],
  runtime: [['process'], ['grpc', 'postgres'], ['audit']],
};
const packages = (...names: string[]) => `(?:^|/)node_modules/(?:${names.join('|')})/`;

/** What no file may import, by the name of the rule. */
const forbidden = {
  'no-circle': {
    comment: 'Files that need each other are one file or lack a third.',
    from: {},
    to: { circular: true },
  },
  resolvable: {
    comment: 'An import that leads nowhere escapes every other rule.',
    from: {},
    to: { couldNotResolve: true },
  },
  'services-apart': {
    comment: 'Services speak gRPC with one another and share nothing but rules and the runtime.',
    from: { path: '^services/([^/]+)/' },
    to: { path: '^services/', pathNot: '^services/($1|rules|runtime)/' },
  },
  'runtime-below-everything': {
    comment:
      'The runtime knows no word of the product. AuditService and CallStreamService are its own, and it keeps the time budget and the bounds of times.',
    from: { path: '^services/runtime/', pathNot: tests },
    to: {
      path: [
        '^services/(?!runtime/|rules/src/time(-budget)?[.]ts$)',
        '^proto/(?!generated/courseexchange/(operator/v1/audit|rpc/v1/call_stream)_)',
        '^deploy/',
        '^test/',
      ],
    },
  },
  'rules-below-everything': {
    comment: 'What two services share is pure: no runtime, no wire, no driver.',
    from: { path: '^services/rules/', pathNot: tests },
    to: {
      path: [
        '^services/(?!rules/)',
        '^proto/',
        '^deploy/',
        '^test/',
        packages('pg', 'ioredis', '@grpc/grpc-js'),
      ],
    },
  },
  'proto-below-everything': {
    comment: 'The wire is the lowest floor.',
    from: { path: '^proto/' },
    to: { path: ['^services/', '^deploy/', '^test/'] },
  },
  'drivers-in-stores': {
    comment: 'Only tables and stores speak to a driver.',
    from: { path: services, pathNot: [tests, stores] },
    to: { path: packages('pg', 'ioredis') },
  },
  'environment-on-top': {
    comment: 'Files, sockets and processes are the business of main and the runtime.',
    from: { path: `${services}[^/]+/`, pathNot: [tests, '/redis/'] },
    to: { path: '^(node:)?(fs|http|http2|os|process|child_process|worker_threads)(/|$)' },
  },
  'rules-below-stores': {
    comment: "A noun's rules are pure: what they decide on is handed to them.",
    from: { path: nouns },
    to: { path: [stores, '/postgres/pool[.]ts$'] },
  },
  'stores-below-use-cases': {
    comment: 'A table or store knows rules and its driver.',
    from: { path: `${services}.*${stores}`, pathNot: tests },
    to: { path: ['(?:/|-)(?:admin|rpc|messages|endpoint|grant|config|main)[.]ts$', '^proto/generated/'] },
  },
  'wire-in-rpc': {
    comment: 'Only rpc.ts and its messages know proto; main puts the services together.',
    from: { path: services, pathNot: [tests, rpc, main] },
    to: { path: ['^proto/generated/', packages('@grpc/grpc-js')] },
  },
  'rpc-on-top': {
    comment: 'rpc.ts translates for its callers outside; inside, only main needs it.',
    from: { path: services, pathNot: [tests, rpc, main] },
    to: { path: `${services}.*${rpc}` },
  },
  'rpc-translates-only': {
    comment: 'rpc.ts and routes call use cases; of tables and stores they may know types.',
    from: { path: `${services}.*${rpc}`, pathNot: tests },
    to: { path: `${services}.*${stores}`, dependencyTypesNot: ['type-only'] },
  },
  'main-on-top': {
    comment: 'main and migrate construct; nothing imports them.',
    from: {},
    to: { path: '^services/[^/]+/src/(main|migrate)[.]ts$' },
  },
  'configuration-on-top': {
    comment: 'Configuration is read at the top and handed down as parameters.',
    from: { path: '^services/[^/]+/src/[^/]+/', pathNot: tests },
    to: { path: '^services/[^/]+/src/config[.]ts$' },
  },
  'gateway-thin': {
    comment: 'No database, no Redis, no rule of OAuth in the gateway.',
    from: { path: '^services/gateway/' },
    to: { path: packages('pg', 'ioredis', 'jose', 'openid-client', 'oauth4webapi') },
  },
  'catalog-without-redis': {
    comment: 'The catalog lives on Postgres alone.',
    from: { path: '^services/design-catalog/' },
    to: { path: packages('ioredis') },
  },
  'demo-partner-outside': {
    comment: 'A partner copies the folder: HTTP only, and nothing of this workspace.',
    from: { path: '^services/demo-partner/' },
    to: {
      path: [
        '^(?!services/demo-partner/)(services|proto|deploy|test)/',
        packages('pg', 'ioredis', '@grpc/grpc-js', '@bufbuild/protobuf'),
      ],
    },
  },
  'integrators-outside': {
    comment: 'An integrator installs the package alone: it has images, and nothing of this workspace.',
    from: { path: '^deploy/testcontainers/' },
    to: { path: '^(?!deploy/testcontainers/)(services|proto|deploy|test)/' },
  },
  'production-without-tests': {
    comment: 'What runs in production needs neither tests nor the local stack.',
    from: { path: ['^services/', '^proto/'], pathNot: tests },
    to: { path: ['^test/', '^deploy/', tests, packages('vitest', 'fast-check', 'playwright-core')] },
  },
  'deploy-from-outside': {
    comment:
      'The local stack starts the services as processes; of their code it needs three rules, for its demo data. ' +
      'Alerts and dashboards are made from the tables of metrics. One image is tests.',
    from: { path: '^deploy/', pathNot: [tests, '^deploy/contract-tests/'] },
    to: {
      path: ['^test/', '^services/(?!rules/|runtime/)'],
      pathNot: [
        '^services/identity/src/(clients/(client-registration|scope)|login/password)[.]ts$',
        '^services/[^/]+/src/metrics[.]ts$',
      ],
    },
  },
} satisfies Readonly<Record<string, Partial<IForbiddenRuleType>>>;

/** One for each floor. */
const floorRules = Object.entries(floors).flatMap(([service, all]) =>
  all.map((floor, nth) => ({
    name: 'folders-in-floors',
    severity: 'error' as const,
    comment: 'A folder imports those of the floors below its own, and none that may import it.',
    from: { path: `^services/${service}/src/(${floor.join('|')})/`, pathNot: tests },
    to: {
      path: `^services/${service}/src/(${all.slice(nth).flat().join('|')})/`,
      pathNot: `^services/${service}/src/$1/`,
    },
  })),
);

const rules = {
  forbidden: [
    ...Object.entries(forbidden).map(([name, rule]) => ({ name, severity: 'error' as const, ...rule })),
    ...floorRules,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
} satisfies IConfiguration;

export default rules;
