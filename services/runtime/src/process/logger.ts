// JSON lines on standard output. A field is a number, a boolean or a text that was made `LogText` on purpose: a plain
// string does not compile, so that no token, e-mail or name slips in (R27).

import { createHmac } from 'node:crypto';
import { type Context, context } from '@opentelemetry/api';
import { type LoggerOptions, pino, stdTimeFunctions } from 'pino';
import { nameSubject, outsideRequests, requestIdOf, spanOf, subjectOf } from './request-context.ts';
import type { Secret } from './secret.ts';

declare const loggable: unique symbol;
/** Neither personal nor secret. */
export type LogText = string & { readonly [loggable]: true };
export type LogFields = Readonly<Record<string, LogText | number | boolean | undefined>>;

/** Vouches that `text` is neither secret nor personal: a route, a code, a client_id, a state. */
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
      const active = context.active();
      return { requestId: requestIdOf(active), ...spanOf(active) };
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

/** Of this process. */
const loggers: { readonly lines: { level: string }; readonly threshold: LogLevel }[] = [];

/** Turns debug lines on, or off again, for every logger of this process. */
export function toggleDebugLines(logger: Logger): void {
  const raises = loggers.some(({ lines }) => lines.level !== 'debug');
  const say = () => logger.info('log level changed', { debug: raises });
  if (!raises) say();
  for (const { lines, threshold } of loggers) lines.level = raises ? 'debug' : threshold;
  if (raises) say();
}

/** Lines of one fault in a window; the rest become one line with their number. */
const mostAlike = 10;
const windowMs = 10_000;

/** What writes the sum of a repeated fault. */
const sums = new Set<() => void>();

/** Writes the pending sums before the process ends. */
export function sumUpRepeatedFaults(): void {
  for (const sumUp of sums) sumUp();
}

/** A store that is away fails each request, which would flood the log. Faults are told apart by their texts. */
function summarising(log: Log): Log {
  const seen = new Map<string, number>();
  return (message, fields = {}) => {
    const same = Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === 'string'));
    const key = JSON.stringify([message, same]);
    const before = seen.get(key) ?? 0;
    seen.set(key, before + 1);
    if (before < mostAlike) log(message, fields);
    if (before > 0) return;
    const sumUp = () => {
      const repeated = (seen.get(key) ?? 0) - mostAlike;
      seen.delete(key);
      sums.delete(sumUp);
      if (repeated > 0) outsideRequests(() => log(message, { ...same, repeated }));
    };
    sums.add(sumUp);
    setTimeout(sumUp, windowMs).unref();
  };
}

/** Of an unknown error: class, code and place. Drivers quote values in their messages. */
export function describeError(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: logText(typeof error) };
  const code = (error as { code?: unknown }).code;
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
    ...(typeof code === 'string' || typeof code === 'number' ? { errorCode: logText(String(code)) } : {}),
    at: logText(frames),
    ...(error.cause instanceof Error ? { cause: logText(error.cause.name) } : {}),
  };
}

export function pseudonym(key: Secret<Buffer>, person: string): LogText {
  return logText(createHmac('sha256', key.reveal()).update(person).digest('base64url').slice(0, 22));
}

/** The request's line will carry the `pseudonym`. */
export function nameUser(user: LogText): void {
  nameSubject({ user });
}

export function userOf(active: Context): LogText | undefined {
  return subjectOf(active)?.user as LogText | undefined;
}

/** The authenticated client. */
export function clientOf(active: Context = context.active()): LogText | undefined {
  return subjectOf(active)?.client as LogText | undefined;
}
