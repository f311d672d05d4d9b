// A container of one of our images, run as the chart runs it: read-only root, no capability, no new privilege.
import { text } from 'node:stream/consumers';
import { GenericContainer, getContainerRuntimeClient, type StartedNetwork, Wait } from 'testcontainers';

export type Environment = Readonly<Record<string, string>>;

const lastLines = 12;

class ProductContainer extends GenericContainer {
  #said: readonly string[] = [];

  constructor(image: string, environment: Environment) {
    super(image);
    this.hostConfig.ReadonlyRootfs = true;
    this.withEnvironment({ ...environment }).withDroppedCapabilities('ALL');
    this.withSecurityOpt('no-new-privileges:true').withStartupTimeout(90_000);
    this.withLogConsumer((log) =>
      log.on('data', (line) => {
        this.#said = [...this.#said, String(line).trim()].slice(-lastLines);
      }),
    );
  }

  /** Rejects with what the program said last, which is gone with the container. */
  override start() {
    return super.start().catch((cause: Error) => {
      const lines = [`${this.imageName.string} does not start: ${cause.message}`, ...this.#said];
      throw new Error(lines.join('\n    '), { cause });
    });
  }
}

const healthPort = 8099;

export function service(image: string, environment: Environment): GenericContainer {
  return new ProductContainer(image, {
    HEALTH_HOST: '0.0.0.0',
    HEALTH_PORT: String(healthPort),
    ...environment,
  })
    .withExposedPorts(healthPort)
    .withWaitStrategy(
      Wait.forHttp('/healthz', healthPort, { abortOnContainerExit: true }).forStatusCode(200),
    );
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
  readonly scratch?: boolean;
  readonly input?: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

export async function runToEnd(
  image: string,
  { environment = {}, command, network, given, scratch, input, labels = {} }: JobOptions,
): Promise<Ending> {
  const client = (await getContainerRuntimeClient()).container;
  const container = await client.dockerode.createContainer({
    Image: image,
    Env: Object.entries(environment).map(([key, value]) => `${key}=${value}`),
    Labels: labels,
    ...(command ? { Cmd: [...command] } : {}),
    ...(input === undefined ? {} : { OpenStdin: true, StdinOnce: true, AttachStdin: true }),
    HostConfig: {
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      ...(scratch ? { Tmpfs: { '/tmp': 'mode=1777' } } : {}),
      ...(given ? { Binds: [`${given}:/given:ro`] } : {}),
      ...(network ? { NetworkMode: network.getName() } : {}),
    },
  });
  try {
    const stream =
      input === undefined ? undefined : await container.attach({ stream: true, stdin: true, hijack: true });
    await container.start();
    stream?.end(input ?? '');
    const { StatusCode } = (await container.wait()) as { StatusCode: number };
    return { code: StatusCode, output: await text(await client.logs(container)) };
  } finally {
    await container.remove({ force: true });
  }
}
