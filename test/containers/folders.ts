// What outlives a container: a copy of a folder of it, which another one starts with.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { getContainerRuntimeClient, type StartedTestContainer } from 'testcontainers';

/** A folder of a container, with its path, as tar. */
export type Copy = Awaited<ReturnType<typeof copyFolder>>;

/** What survives the container. */
export async function copyFolder(container: StartedTestContainer, path: string) {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const content = await buffer(await dockerode.getContainer(container.getId()).getArchive({ path }));
  return { tar: () => Readable.from([content]), target: path.replace(/\/[^/]+$/, '') || '/' };
}

/** The container and its volumes are gone, at once. */
export async function destroy(container: StartedTestContainer): Promise<void> {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  await dockerode.getContainer(container.getId()).remove({ force: true, v: true });
}
