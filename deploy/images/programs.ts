// Which programs each image holds. Paths inside an image are those of the checkout below /app, so that whatever a
// program reads beside its own file (its migrations) lies where it looks.

export interface ImageContent {
  readonly programs: readonly string[];
  /** Entry files that lie directly below /app, under the name that operators type. */
  readonly tools?: Readonly<Record<string, string>>;
  readonly commands?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  /** Packages with a compiled part, copied with that part for this machine's platform. */
  readonly native?: { readonly from: string; readonly packages: readonly string[] };
  readonly external?: readonly string[];
}

const operatorTool = {
  tools: { 'partnerctl.js': 'services/partnerctl/src/main.ts' },
  commands: { partnerctl: 'partnerctl.js' },
};
const hashing = { from: 'services/identity', packages: ['@node-rs/argon2', '@node-rs/bcrypt'] };

export const images = {
  gateway: {
    programs: ['services/gateway/src/main.ts'],
    files: ['services/gateway/src/pages/colours.css', 'services/gateway/src/pages/pages.css'],
  },
  identity: {
    programs: ['services/identity/src/main.ts'],
    ...operatorTool,
    files: ['services/identity/migrations'],
    native: hashing,
  },
  'design-catalog': {
    programs: ['services/design-catalog/src/main.ts'],
    ...operatorTool,
    files: ['services/design-catalog/migrations'],
  },
  'demo-partner': {
    programs: ['services/demo-partner/src/main.ts'],
    files: ['services/demo-partner/src/style.css'],
  },
  migrations: {
    programs: ['services/identity/src/migrate.ts', 'services/design-catalog/src/migrate.ts'],
    tools: { 'seed.js': 'deploy/images/seed.ts' },
    files: [
      'services/identity/migrations',
      'services/design-catalog/migrations',
      'deploy/postgres/roles.sql',
    ],
    native: hashing,
  },
  // Its tests stay sources, which vitest reads; deploy/Dockerfile lays the packages that they import beside them.
  'contract-tests': {
    programs: ['deploy/contract-tests/main.ts'],
    files: ['test/contract', 'test/support', 'docs/specification.md', 'docs/rulings.md'],
    external: ['vitest', 'vitest/node'],
  },
} as const satisfies Readonly<Record<string, ImageContent>>;

export type ImageName = keyof typeof images;
export const imageNames = Object.keys(images) as readonly ImageName[];

/** The images that `words` name, or all. Ends the process where a word is none. */
export function chosenImages(words: readonly string[], usage: string): readonly ImageName[] {
  const chosen = imageNames.filter((name) => words.includes(name));
  if (chosen.length === words.length) return words.length === 0 ? imageNames : chosen;
  console.error(`Usage: node deploy/images/${usage} [IMAGE …] with images from: ${imageNames.join(', ')}`);
  process.exit(2);
}
