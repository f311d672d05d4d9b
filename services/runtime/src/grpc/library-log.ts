// What grpc-js prints, as log lines: a log pipeline drops lines that are not JSON.
import { setLogger } from '@grpc/grpc-js';
import { type Logger, logText } from '../process/logger.ts';

/** Its errors alone: what GRPC_TRACE asks for may hold tokens (R27). */
export function logGrpcErrors(logger: Logger): void {
  setLogger({
    error: (message: unknown) => logger.warn('gRPC error', { error: logText(String(message).slice(0, 300)) }),
    info: () => {},
    debug: () => {},
  });
}
