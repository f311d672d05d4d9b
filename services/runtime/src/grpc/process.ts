// The frame of a process that serves: its settings, log, telemetry, certificates, health port and stop.
import type { baseSettings, rpcTlsSettings, telemetrySettings } from '../process/base-settings.ts';
import { type HealthChecks, serveHealth } from '../process/health.ts';
import { type StopOptions, stopOnSignal } from '../process/lifecycle.ts';
import { createLogger, type Logger } from '../process/logger.ts';
import { ConfigurationError, type SettingValues } from '../process/settings.ts';
import { startTelemetry } from '../process/telemetry.ts';
import { logGrpcErrors } from './library-log.ts';
import { openRpcTls, type RpcTls } from './tls.ts';

type Config = SettingValues<typeof baseSettings & typeof telemetrySettings & typeof rpcTlsSettings>;

interface Served<Check extends string> {
  readonly health: HealthChecks<Check>;
  /** What was opened, by name, in closing order. */
  readonly steps: StopOptions['steps'];
  /** By their names in the log. */
  readonly ports: Readonly<Record<string, number | undefined>>;
  /** The process is unready until then. */
  readonly reached?: Promise<void>;
}

/**
 * `serve` opens what differs; stores may connect later. Configuration mistakes are printed, one per line, and end the
 * process with code 1.
 */
export async function runProcess<C extends Config, Check extends string>(
  name: string,
  readConfig: () => C,
  serve: (config: C, logger: Logger, tls: RpcTls | undefined) => Promise<Served<Check>>,
): Promise<void> {
  try {
    const config = readConfig();
    const logger = createLogger(name, config.LOG_LEVEL);
    logGrpcErrors(logger);
    const telemetry = await startTelemetry(name, config, logger);
    const tls = openRpcTls(config.RPC_TLS_DIRECTORY, logger);
    const { health: checks, steps, ports, reached } = await serve(config, logger, tls);
    const { HEALTH_HOST: host, HEALTH_PORT: port } = config;
    const health = await serveHealth({ ...checks, host, port, metricsText: telemetry.metricsText });
    stopOnSignal({ logger, config, health, telemetry, steps });
    void Promise.resolve(reached).then(health.started);
    logger.info('listening', { ...ports, healthPort: health.port });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
