// A container of one of our images, run as the chart runs it: read-only root, no capability, no new privilege.
import { GenericContainer, getContainerRuntimeClient, type StartedNetwork, Wait } from 'testcontainers';
import { imageOf, type JobName, type ServiceName } from './settings.ts';

export type Environment = Readonly<Record<string, string>>;

class ProductContainer extends GenericContainer {
  constructor(name: ServiceName | JobName, environment: Environment) {
    super(imageOf(name));
    this.hostConfig.ReadonlyRootfs = true;
    this.withEnvironment({ ...environment }).withDroppedCapabilities('ALL');
    this.withSecurityOpt('no-new-privileges:true').withStartupTimeout(30_000);
  }
}

/** The port that answers probes, in every service's container. */
const healthPort = 8099;

/** The service as a container that is waited for until it says that it is ready. */
export function service(name: ServiceName, environment: Environment): GenericContainer {
  return new ProductContainer(name, {
    HEALTH_HOST: '0.0.0.0',
    HEALTH_PORT: String(healthPort),
    ...environment,
  })
    .withExposedPorts(healthPort)
    .withWaitStrategy(Wait.forHttp('/healthz', healthPort).forStatusCode(200));
}

export interface Ending {
  readonly code: number;
  readonly output: string;
}

export interface JobOptions {
  readonly environment?: Environment;
  readonly command?: readonly string[];
  readonly network?: StartedNetwork;
  /** A folder of this machine, read-only at /given. */
  readonly given?: string | undefined;
}

/** Runs the image to its end. */
export async function runToEnd(
  name: ServiceName | JobName,
  { environment = {}, command, network, given }: JobOptions,
): Promise<Ending> {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const container = await dockerode.createContainer({
    Image: imageOf(name),
    Env: Object.entries(environment).map(([key, value]) => `${key}=${value}`),
    ...(command ? { Cmd: [...command] } : {}),
    HostConfig: {
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      ...(name === 'contract-tests' ? { Tmpfs: { '/tmp': 'mode=1777' } } : {}),
      ...(given ? { Binds: [`${given}:/given:ro`] } : {}),
      ...(network ? { NetworkMode: network.getName() } : {}),
    },
  });
  try {
    await container.start();
    const { StatusCode } = (await container.wait()) as { StatusCode: number };
    const output = await container.logs({ stdout: true, stderr: true, follow: false });
    return { code: StatusCode, output: output.toString('utf8') };
  } finally {
    await container.remove({ force: true });
  }
}
