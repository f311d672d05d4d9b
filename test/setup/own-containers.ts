// Ends the containers and networks of a test file, also of one whose start failed half-way.
import { getContainerRuntimeClient, getReaper } from 'testcontainers';
import { afterAll } from 'vitest';

// First to be registered, last to run.
afterAll(async () => {
  const client = await getContainerRuntimeClient();
  const { dockerode } = client.container;
  const { sessionId } = await getReaper(client);
  const filters = { label: [`org.testcontainers.session-id=${sessionId}`] };
  const left = await dockerode.listContainers({ all: true, filters });
  await Promise.all(left.map(({ Id }) => dockerode.getContainer(Id).remove({ force: true, v: true })));
  for (const { Id } of await dockerode.listNetworks({ filters })) await dockerode.getNetwork(Id).remove();
});
