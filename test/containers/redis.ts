// Redis as a container. test/setup/own-containers.ts removes it.
import { defaultImages } from '@course-exchange/testcontainers/images';
import { redisCommand } from '@course-exchange/testcontainers/stores';
import { RedisContainer } from '@testcontainers/redis';
import type { StartedNetwork, StartedTestContainer } from 'testcontainers';
import type { Copy } from './handles.ts';

interface RedisOptions {
  /** Words for the server, beside those that production asks for. */
  readonly words?: readonly string[];
  /** Content of files in the container, by their path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Its data outlive the process, and can be copied: nothing waits until they are on the disk. Else they are in memory. */
  readonly onDisk?: boolean;
  /** Its data as they once were, on disk. */
  readonly restore?: Copy;
}

/** A disk that is slow for a second would be an outage of Redis, rightly (R14): what a test counts is not to depend on it. */
export async function startRedis(
  network: StartedNetwork,
  { words = [], files = {}, restore, onDisk = restore !== undefined }: RedisOptions = {},
): Promise<StartedTestContainer> {
  const sync = onDisk ? ['--appendfsync', 'no'] : [];
  return new RedisContainer(defaultImages.redis)
    .withNetwork(network)
    .withNetworkAliases('redis')
    .withTmpFs(onDisk ? {} : { '/data': 'uid=999,gid=999' })
    .withCopyContentToContainer(Object.entries(files).map(([target, content]) => ({ target, content })))
    .withCopyArchivesToContainer(restore ? [{ ...restore, tar: restore.tar() }] : [])
    .withCommand([...redisCommand, '--protected-mode', 'no', ...sync, ...words])
    .start();
}
