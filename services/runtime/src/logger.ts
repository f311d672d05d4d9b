// JSON lines on standard output. A field's type decides whether it may be logged: numbers, booleans and
// texts that were made `LogText` on purpose. A plain string does not compile as a field, so a token, an
// e-mail or a name cannot slip in (R27).
import { context } from '@opentelemetry/api';
import { requestIdOf, traceIdOf } from './call-context.ts';

declare const loggable: unique symbol;
/** A text that says nothing about a person and opens nothing. */
export type LogText = string & { readonly [loggable]: true };
export type LogFields = Readonly<Record<string, LogText | number | boolean | undefined>>;

/** Vouches that `text` is neither secret nor personal: a route, a code, a client_id, a state. */
export function logText(text: string): LogText {
  return text as LogText;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export interface Logger {
  /** `message` is a constant sentence: write it as a literal. */
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Logs lines of at least `threshold` for the process called `service`. */
export function createLogger(
  service: string,
  threshold: LogLevel,
  write: (line: string) => void = (line) => process.stdout.write(line),
): Logger {
  const log =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (levels.indexOf(level) < levels.indexOf(threshold)) return;
      const active = context.active();
      const line = {
        time: new Date().toISOString(),
        level,
        service,
        message,
        requestId: requestIdOf(active),
        traceId: traceIdOf(active),
        ...fields,
      };
      write(`${JSON.stringify(line)}\n`);
    };
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
}

/**
 * What may be said of an unknown error: its class, its code and where it was thrown. Its message is left
 * out: drivers quote values in it.
 */
export function describeError(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: logText(typeof error) };
  const code = (error as { code?: unknown }).code;
  const stack = error.stack ?? '';
  // A message of several lines could pass for frames: cut it off first.
  const frames = stack
    .slice(Math.max(0, stack.indexOf(error.message)) + error.message.length)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 6)
    .map((line) => line.trim().replace(/(?<=[\s(])(file:\/\/)?\/.*\/(?=[^/]+\/[^/]+:\d+:\d+\)?$)/, ''))
    .join(' < ');
  return {
    error: logText(error.name),
    ...(typeof code === 'string' || typeof code === 'number' ? { errorCode: logText(String(code)) } : {}),
    at: logText(frames),
    ...(error.cause instanceof Error ? { cause: logText(error.cause.name) } : {}),
  };
}
