// The life of a process: starts, runs until told to stop, stops its parts in order, ends.
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, type Logger, logText } from './logger.ts';

export interface Lifecycle {
  /** Registers a step of the stop; steps run in the order of registration. */
  readonly onStop: (name: string, step: () => Promise<void> | void) => void;
  /** Begins the stop; further calls do nothing. */
  readonly stop: (reason: string) => void;
}

export interface LifecycleOptions {
  readonly logger: Logger;
  /** Time for all steps together, in milliseconds; then the process ends with code 1. */
  readonly stopTimeoutMs?: number;
  /** Stop when standard input closes: the supervisor holds its other end, so its death reaches us. */
  readonly stopWithParent: boolean;
}

/** Installs the signal handlers. An unforeseen error outside a request stops the process with code 1. */
export function createLifecycle({
  logger,
  stopTimeoutMs = 20_000,
  stopWithParent,
}: LifecycleOptions): Lifecycle {
  const steps: { name: string; step: () => Promise<void> | void }[] = [];
  let stopping = false;

  const stop = (reason: string, exitCode = 0): void => {
    if (stopping) return;
    stopping = true;
    logger.info('stopping', { reason: logText(reason) });
    const timer = setTimeout(() => {
      logger.error('stop took too long');
      process.exit(1);
    }, stopTimeoutMs);
    void runSteps(steps, logger).then((clean) => {
      clearTimeout(timer);
      logger.info('stopped');
      process.exit(clean ? exitCode : 1);
    });
  };

  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('uncaughtException', (error) => {
    logger.error('uncaught error', describeError(error));
    stop('uncaught error', 1);
  });
  if (stopWithParent)
    process.stdin
      .resume()
      .once('end', () => stop('parent gone'))
      .once('error', () => stop('parent gone'));
  return { onStop: (name, step) => steps.push({ name, step }), stop: (reason) => stop(reason) };
}

async function runSteps(
  steps: readonly { name: string; step: () => Promise<void> | void }[],
  logger: Logger,
): Promise<boolean> {
  let clean = true;
  for (const { name, step } of steps) {
    try {
      await step();
    } catch (error) {
      clean = false;
      logger.error('stop step failed', { step: logText(name), ...describeError(error) });
    }
  }
  return clean;
}

/** Waits so that load balancers learn of `readiness off` before connections close. */
export function waitForEndpointsToSpread(milliseconds: number): Promise<void> {
  return sleep(milliseconds);
}
