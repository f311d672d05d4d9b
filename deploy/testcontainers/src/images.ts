// Which images make up a system: their names, which variables may change, and whether this machine can have them.
import { readFileSync } from 'node:fs';
import { getContainerRuntimeClient, ImageName } from 'testcontainers';

export interface Images {
  /** Before the name of each of our images: `registry.example/course-exchange`. Default: IMAGE_PREFIX, else `course-exchange`. */
  readonly prefix: string;
  /** Default: IMAGE_TAG, else the version of this package. */
  readonly tag: string;
  /** Default: POSTGRES_IMAGE, else `postgres:18`. */
  readonly postgres: string;
  /** Default: REDIS_IMAGE, else `redis:8`. */
  readonly redis: string;
}

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export const defaultImages: Images = {
  prefix: process.env.IMAGE_PREFIX ?? 'course-exchange',
  tag: process.env.IMAGE_TAG ?? version,
  postgres: process.env.POSTGRES_IMAGE ?? 'postgres:18',
  redis: process.env.REDIS_IMAGE ?? 'redis:8',
};

export function imageOf(name: string, { prefix, tag }: Images = defaultImages): string {
  return `${prefix}/${name}:${tag}`;
}

/** Pulls what is missing. Rejects with every image that cannot be had, and why. */
export async function requireImages(images: Images): Promise<void> {
  const ours = ['migrations', 'identity', 'design-catalog', 'gateway'].map((name) => imageOf(name, images));
  const wanted = await Promise.allSettled([...ours, images.postgres, images.redis].map(requireImage));
  const reasons = wanted.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
  if (reasons.length === 0) return;
  const lines = [
    'Images are missing on this machine, and pulling them failed:',
    ...reasons.map(({ message }) => `    ${message}`),
    'Load, build or pull them, or name others by withImages({ prefix, tag, postgres, redis }).',
  ];
  throw new AggregateError(reasons, lines.join('\n'));
}

async function requireImage(name: string): Promise<void> {
  const { image } = await getContainerRuntimeClient();
  const parsed = ImageName.fromString(name);
  if (await image.exists(parsed)) return;
  const failure: unknown = await image.pull(parsed).catch((error: unknown) => error);
  if (await image.exists(parsed)) return;
  const said = failure instanceof Error ? failure.message.trim() : 'the pull broke off';
  throw new Error(`${name}: ${said}`, { cause: failure });
}
