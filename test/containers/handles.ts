// What is done to containers behind their backs: ended, started again, cut off, copied from, removed.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { getContainerRuntimeClient, type StartedNetwork, type StartedTestContainer } from 'testcontainers';

/** A folder of a container, with its path, as tar. */
export type Copy = Awaited<ReturnType<typeof copyFolder>>;

const dockerode = async () => (await getContainerRuntimeClient()).container.dockerode;
export const handleOf = async (container: StartedTestContainer) =>
  (await dockerode()).getContainer(container.getId());
const handleOfNetwork = async (network: StartedNetwork) => (await dockerode()).getNetwork(network.getId());

/** What survives the container. */
export async function copyFolder(container: StartedTestContainer, path: string) {
  const content = await buffer(await (await handleOf(container)).getArchive({ path }));
  return { tar: () => Readable.from([content]), target: path.replace(/\/[^/]+$/, '') || '/' };
}

export async function destroy(container: StartedTestContainer): Promise<void> {
  await (await handleOf(container)).remove({ force: true, v: true });
}

export async function end(
  container: StartedTestContainer,
  signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL',
): Promise<{ readonly StatusCode: number }> {
  const handle = await handleOf(container);
  const ended = handle.wait() as Promise<{ readonly StatusCode: number }>;
  await handle.kill({ signal });
  return ended;
}

/** Packets get lost from now on, and nobody is told: a drawn cable. */
export async function cutOff(network: StartedNetwork, container: StartedTestContainer): Promise<void> {
  await (await handleOfNetwork(network)).disconnect({ Container: container.getId(), Force: true });
}

export async function join(
  network: StartedNetwork,
  container: StartedTestContainer,
  name: string,
): Promise<void> {
  const EndpointConfig = { Aliases: [name] };
  await (await handleOfNetwork(network)).connect({ Container: container.getId(), EndpointConfig });
}
