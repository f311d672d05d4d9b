// process/ is what every process has: settings, logs, metrics, traces, health, errors and an orderly stop. It knows no store and no
// wire.

// The end of a process: its signals, and a stop in order.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Health } from './health.ts';
import { describeError, type Logger, logText, sumUpRepeated, toggleDebugLines } from './logger.ts';
import type { Telemetry } from './telemetry.ts';

type Step = () => unknown;

export interface StopOptions {
  readonly logger: Logger;
  readonly config: {
    /** Stop when standard input closes, as it does when the supervisor dies. */
    readonly STOP_WITH_PARENT: boolean;
    readonly SHUTDOWN_DELAY_MS: number;
  };
  readonly health: Pick<Health, 'stopping' | 'close'>;
  readonly telemetry: Telemetry;
  /** What the process has opened, by name, in closing order. */
  readonly steps: Readonly<Record<string, Step>>;
  /** For all steps after the delay, in milliseconds; then the process exits with code 1. */
  readonly stopTimeoutMs?: number;
}

/**
 * Installs the signal handlers. A stopping process first turns unready and waits, so that load balancers notice. An
 * uncaught error stops it with code 1.
 */
export function stopOnSignal(options: StopOptions): void {
  const { logger, config, stopTimeoutMs = 20_000 } = options;
  let stopping = false;
  const stop = (reason: string, exitCode = 0): void => {
    if (stopping) return;
    stopping = true;
    logger.info('stopping', { reason: logText(reason) });
    setTimeout(() => {
      sumUpRepeated();
      logger.error('stop took too long');
      process.exit(1);
    }, config.SHUTDOWN_DELAY_MS + stopTimeoutMs);
    void runSteps(options).then((clean) => {
      sumUpRepeated();
      logger.info('stopped');
      process.exit(clean ? exitCode : 1);
    });
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('SIGUSR2', () => toggleDebugLines(logger));
  process.on('uncaughtException', (error) => {
    logger.error('uncaught error', describeError(error));
    stop('uncaught error', 1);
  });
  if (config.STOP_WITH_PARENT)
    for (const ended of ['end', 'error']) process.stdin.resume().once(ended, () => stop('parent gone'));
}

/** A failed step does not keep the next from running. */
async function runSteps({ logger, config, health, telemetry, steps }: StopOptions): Promise<boolean> {
  const all: Readonly<Record<string, Step>> = {
    readiness: health.stopping,
    'drain delay': () => sleep(config.SHUTDOWN_DELAY_MS),
    ...steps,
    telemetry: telemetry.flush,
    health: health.close,
  };
  let clean = true;
  for (const [name, step] of Object.entries(all)) {
    try {
      await step();
    } catch (error) {
      clean = false;
      logger.error('stop step failed', { step: logText(name), ...describeError(error) });
    }
  }
  return clean;
}
