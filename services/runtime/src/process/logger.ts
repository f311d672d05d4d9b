// JSON lines on standard output. A plain string does not compile as a field, only a `LogText`, so that no token,
// e-mail or name slips in (R27).
import { createHmac } from 'node:crypto';
import { context, isSpanContextValid, trace } from '@opentelemetry/api';
import { type LoggerOptions, pino, stdTimeFunctions } from 'pino';
import { currentCall, outsideRequests } from './request-context.ts';
import type { Secret } from './secret.ts';

declare const loggable: unique symbol;
/** Neither personal nor secret: the caller of `logText` vouches for it. */
export type LogText = string & { readonly [loggable]: true };
export type LogFields = Readonly<Record<string, LogText | number | boolean | undefined>>;

export function logText(text: string): LogText {
  return text as LogText;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

type Log = (message: string, fields?: LogFields) => void;
/** `message` is a literal. */
export type Logger = Readonly<Record<LogLevel, Log>> & {
  /** Written at any threshold: audit and security events. */
  readonly record: Log;
};

export function createLogger(service: string, threshold: LogLevel, write?: (line: string) => void): Logger {
  const options: LoggerOptions = {
    level: threshold,
    base: { service },
    messageKey: 'message',
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (level) => ({ level }) },
    mixin: () => {
      const requestId = currentCall().requestId || undefined;
      const span = trace.getSpanContext(context.active());
      if (span === undefined || !isSpanContextValid(span)) return { requestId };
      return { requestId, traceId: span.traceId, spanId: span.spanId };
    },
  };
  const lines = write === undefined ? pino(options) : pino(options, { write });
  loggers.push({ lines, threshold });
  const log =
    (level: LogLevel): Log =>
    (message, fields = {}) =>
      lines[level](fields, message);
  const [warn, error] = [summarising(log('warn')), summarising(log('error'))];
  const records = lines.child({}, { level: 'info' });
  const record: Log = (message, fields = {}) => records.info(fields, message);
  return { debug: log('debug'), info: log('info'), warn, error, record };
}

const loggers: { readonly lines: { level: string }; readonly threshold: LogLevel }[] = [];

/** Turns debug lines on or off for every logger of this process. */
export function toggleDebugLines(logger: Logger): void {
  const raises = loggers.some(({ lines }) => lines.level !== 'debug');
  for (const { lines, threshold } of loggers) lines.level = raises ? 'debug' : threshold;
  logger.record('log level changed', { debug: raises });
}

interface Summing {
  /** Equal lines written per window; the rest become a count. */
  readonly mostAlike: number;
  readonly windowMs: number;
  /** All lines written per window; beyond it sums distinguish only `apart`, to bound memory. */
  readonly mostLines?: number;
  readonly apart?: readonly string[];
}

const sums = new Set<() => void>();

/** Call before the process ends. */
export function sumUpRepeated(): void {
  for (const sumUp of sums) sumUp();
}

/** Equal by their texts. A window starts with its first line. */
export function summarising(
  log: Log,
  { mostAlike, windowMs, mostLines = Infinity, apart = [] }: Summing = { mostAlike: 10, windowMs: 10_000 },
): Log {
  const seen = new Map<string, { message: string; same: LogFields; lines: number; repeated: number }>();
  let written = 0;
  const sumUp = () => {
    const repeated = [...seen.values()].filter((one) => one.repeated > 0);
    seen.clear();
    written = 0;
    sums.delete(sumUp);
    for (const one of repeated)
      outsideRequests(() => log(one.message, { ...one.same, repeated: one.repeated }));
  };
  return (message, fields = {}) => {
    if (!sums.has(sumUp)) {
      sums.add(sumUp);
      setTimeout(sumUp, windowMs).unref();
    }
    const isFull = written >= mostLines;
    const distinguishes = ([name, value]: [string, unknown]) =>
      typeof value === 'string' && (!isFull || apart.includes(name));
    const same: LogFields = Object.fromEntries(Object.entries(fields).filter(distinguishes));
    const key = JSON.stringify([message, same]);
    const one = seen.get(key) ?? { message, same, lines: 0, repeated: 0 };
    seen.set(key, one);
    if (isFull || one.lines >= mostAlike) {
      one.repeated += 1;
      return;
    }
    one.lines += 1;
    written += 1;
    log(message, fields);
  };
}

/** Drivers quote values in their messages. */
export function describeError(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: logText(typeof error) };
  const stack = error.stack ?? '';
  // A message of several lines could pass for frames.
  const frames = stack
    .slice(Math.max(0, stack.indexOf(error.message)) + error.message.length)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 6)
    .map((line) => line.trim().replace(/(?<=[\s(])(file:\/\/)?\/.*\/(?=[^/]+\/[^/]+:\d+:\d+\)?$)/, ''))
    .join(' < ');
  return {
    error: logText(error.name),
    errorCode: codeIn(error),
    at: logText(frames),
    ...(error.cause instanceof Error && { cause: logText(error.cause.name), causeCode: codeIn(error.cause) }),
  };
}

/** Such as Node's or an SQLSTATE. */
function codeIn({ code }: Error & { readonly code?: unknown }): LogText | undefined {
  return typeof code === 'string' || typeof code === 'number' ? logText(String(code)) : undefined;
}

export function pseudonym(key: Secret<Buffer>, person: string): LogText {
  return logText(createHmac('sha256', key.reveal()).update(person).digest('base64url').slice(0, 22));
}
