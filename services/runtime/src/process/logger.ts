// JSON lines on standard output. A field's type decides whether it may be logged: numbers, booleans and
// texts that were made `LogText` on purpose. A plain string does not compile as a field, so a token, an
// e-mail or a name cannot slip in (R27).

import { createHmac } from 'node:crypto';
import { type Context, context } from '@opentelemetry/api';
import { type LoggerOptions, pino, stdTimeFunctions } from 'pino';
import { nameSubject, outsideRequests, requestIdOf, spanOf, subjectOf } from './request-context.ts';
import type { Secret } from './secret.ts';

declare const loggable: unique symbol;
/** A text that says nothing about a person and opens nothing. */
export type LogText = string & { readonly [loggable]: true };
export type LogFields = Readonly<Record<string, LogText | number | boolean | undefined>>;

/** Vouches that `text` is neither secret nor personal: a route, a code, a client_id, a state. */
export function logText(text: string): LogText {
  return text as LogText;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

type Log = (message: string, fields?: LogFields) => void;
/** `message` is a constant sentence: write it as a literal. */
export type Logger = Readonly<Record<LogLevel, Log>> & {
  /** Of level `info`, and written whatever the threshold: audit and security events. */
  readonly record: Log;
};

/** Logs lines of at least `threshold` for the process called `service`. */
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

/** Turns the lines of all levels on, or off again, for every logger of this process; `logger` says so. */
export function toggleDebugLines(logger: Logger): void {
  const raises = loggers.some(({ lines }) => lines.level !== 'debug');
  const say = () => logger.info('log level changed', { debug: raises });
  if (!raises) say();
  for (const { lines, threshold } of loggers) lines.level = raises ? 'debug' : threshold;
  if (raises) say();
}

/** So many lines of one fault are written in a window; the rest of them become one that says how many they were. */
const mostAlike = 10;
const windowMs = 10_000;

/** What writes the sum of a fault that is repeated just now. */
const sums = new Set<() => void>();

/** Writes the sums that are owed: before the process ends. */
export function sumUpRepeatedFaults(): void {
  for (const sumUp of sums) sumUp();
}

/** A store that is away fails each request: the log would be lost in it, or the disk. Faults are told apart by their texts. */
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

export function pseudonym(key: Secret<Buffer>, person: string): LogText {
  return logText(createHmac('sha256', key.reveal()).update(person).digest('base64url').slice(0, 22));
}

/** Says whose request this is, by its `pseudonym`: the line at the edge carries it. */
export function nameUser(user: LogText): void {
  nameSubject({ user });
}

export function userOf(active: Context): LogText | undefined {
  return subjectOf(active)?.user as LogText | undefined;
}

/** The client that the request has proven, in this process or in one that it has asked. */
export function clientOf(active: Context = context.active()): LogText | undefined {
  return subjectOf(active)?.client as LogText | undefined;
}
