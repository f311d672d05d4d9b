// The settings that every process of ours has, and those of every process that serves gRPC to the others.
import { choice, flag, integer, maybe, optional, port, ratio, text, url } from './variables.ts';

export const baseSettings = {
  HEALTH_HOST: optional(text('address that answers probes'), '0.0.0.0'),
  HEALTH_PORT: port('port that answers probes'),
  LOG_LEVEL: optional(choice('least level that is logged', ['debug', 'info', 'warn', 'error']), 'info'),
  STOP_WITH_PARENT: optional(flag('stop when standard input closes'), false),
  SHUTDOWN_DELAY_MS: optional(
    integer('wait between readiness off and closing, in milliseconds', 0, 60_000),
    0,
  ),
};

export const traceSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: maybe(
    url('OTLP/HTTP base address for traces; nothing is exported without it', ['http:', 'https:']),
  ),
  OTEL_TRACES_SAMPLER_ARG: optional(ratio('share of traces begun here that are kept'), 1),
};

/** For every process that calls another over gRPC, or is called. */
export const rpcTlsSettings = {
  RPC_TLS_DIRECTORY: maybe(
    text(
      'folder with tls.crt, tls.key and ca.crt; without it gRPC between services is plaintext',
      'the path of a folder',
    ),
  ),
};

export const rpcSettings = {
  RPC_HOST: optional(text('address that answers gRPC'), '0.0.0.0'),
  RPC_PORT: port('port that answers gRPC'),
  MAX_CONNECTION_AGE_MS: optional(
    integer('after it a gRPC client connects anew, in milliseconds', 1_000, 3_600_000),
    90_000,
  ),
  ...rpcTlsSettings,
};
