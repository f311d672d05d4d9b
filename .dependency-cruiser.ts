// The floors of architecture as rules: imports point down only, services never import one another. Type-only
// imports count too, unless a rule says otherwise. test/check/import-rules.test.ts proves that each rule fires.
import type { IConfiguration } from 'dependency-cruiser';

const tests = '[.]test[.]ts$';
/** Folders of a service's `src` that are no use cases. */
const namedFolders = '(?:domain|store|signing|rpc|routes|pages|wire)';
const useCases = `^services/(identity|design-catalog)/src/(?!${namedFolders}/)[^/]+/`;
const packages = (...names: string[]) => `(?:^|/)node_modules/(?:${names.join('|')})/`;

const rules = {
  forbidden: [
    {
      name: 'no-circle',
      comment: 'Files that need each other are one file or lack a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment: 'An import that leads nowhere escapes every other rule.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'services-apart',
      comment: 'Services speak gRPC with one another and share nothing but the runtime.',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/($1|runtime)/' },
    },
    {
      name: 'runtime-below-everything',
      comment: 'The runtime knows no word of the product.',
      severity: 'error',
      from: { path: '^services/runtime/', pathNot: tests },
      to: { path: ['^services/(?!runtime/)', '^proto/', '^deploy/', '^test/'] },
    },
    {
      name: 'proto-below-everything',
      comment: 'The wire is the lowest floor.',
      severity: 'error',
      from: { path: '^proto/' },
      to: { path: ['^services/', '^deploy/', '^test/'] },
    },
    {
      name: 'domain-pure',
      comment: 'Rules and types alone: two pure runtime modules, and of Node what only computes.',
      severity: 'error',
      from: { path: '^services/([^/]+)/src/domain/', pathNot: tests },
      to: {
        pathNot: [
          '^services/$1/src/domain/',
          '^services/runtime/src/(failure|secret)[.]ts$',
          '^(node:)?(buffer|crypto|net)$',
        ],
      },
    },
    {
      name: 'stores-below-use-cases',
      comment: 'Stores and signing know the domain and their driver.',
      severity: 'error',
      from: { path: '^services/([^/]+)/src/(store|signing)/', pathNot: tests },
      to: {
        path: ['^services/$1/', '^proto/'],
        pathNot: ['^services/$1/src/(domain|store|signing)/', '^proto/error-codes[.]ts$'],
      },
    },
    {
      name: 'use-cases-below-rpc',
      comment: 'A use case knows neither the wire nor how the process is put together.',
      severity: 'error',
      from: { path: useCases, pathNot: tests },
      to: {
        path: ['^services/[^/]+/src/(rpc/|[^/]+[.]ts$)', '^proto/generated/'],
        pathNot: '^services/runtime/',
      },
    },
    {
      name: 'use-cases-without-driver',
      comment: 'Only a store speaks to a driver, only rpc/ to gRPC.',
      severity: 'error',
      from: { path: useCases, pathNot: tests },
      to: { path: packages('pg', 'ioredis', '@grpc/grpc-js', 'fastify') },
    },
    {
      name: 'rpc-translates-only',
      comment: 'rpc/ calls use cases with what main gave it; of the stores it may know types.',
      severity: 'error',
      from: { path: '^services/([^/]+)/src/(rpc|routes)/', pathNot: tests },
      to: { path: '^services/$1/src/(store|signing)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'main-on-top',
      comment: 'main and migrate construct; nothing imports them.',
      severity: 'error',
      from: {},
      to: { path: '^services/[^/]+/src/(main|migrate)[.]ts$' },
    },
    {
      name: 'configuration-on-top',
      comment: 'Configuration is read at the top and handed down as parameters.',
      severity: 'error',
      from: { path: '^services/[^/]+/src/[^/]+/', pathNot: tests },
      to: { path: '^services/[^/]+/src/config[.]ts$' },
    },
    {
      name: 'gateway-thin',
      comment: 'No database, no Redis, no rule of OAuth in the gateway.',
      severity: 'error',
      from: { path: '^services/gateway/' },
      to: { path: packages('pg', 'ioredis', 'jose', 'openid-client', 'oauth4webapi') },
    },
    {
      name: 'catalog-without-redis',
      comment: 'The catalog lives on Postgres alone.',
      severity: 'error',
      from: { path: '^services/design-catalog/' },
      to: { path: packages('ioredis') },
    },
    {
      name: 'demo-partner-outside',
      comment: 'The demo partner is a partner: HTTP only, nothing of ours but the runtime.',
      severity: 'error',
      from: { path: '^services/demo-partner/' },
      to: { path: ['^proto/', packages('pg', 'ioredis', '@grpc/grpc-js', '@bufbuild/protobuf')] },
    },
    {
      name: 'production-without-tests',
      comment: 'What runs in production needs neither tests nor the local stack.',
      severity: 'error',
      from: { path: ['^services/', '^proto/'], pathNot: tests },
      to: { path: ['^test/', '^deploy/', tests, packages('vitest', 'fast-check', 'playwright-core')] },
    },
    {
      name: 'deploy-from-outside',
      comment:
        'The local stack starts the services as processes; it needs none of their code. One image is tests.',
      severity: 'error',
      from: { path: '^deploy/', pathNot: [tests, '^deploy/contract-tests/'] },
      to: { path: ['^test/', '^services/(?!runtime/)'] },
    },
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
