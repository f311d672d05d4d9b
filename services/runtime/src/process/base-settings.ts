// Settings of every process, and of those that speak gRPC.
import { choice, flag, integer, port, ratio, text, url } from './setting-kinds.ts';

export const baseSettings = {
  HEALTH_HOST: text().default('0.0.0.0').describe('Address that answers probes'),
  HEALTH_PORT: port().describe('Port that answers probes'),
  LOG_LEVEL: choice(['debug', 'info', 'warn', 'error'])
    .default('info')
    .describe('Least level that is logged; audit and security lines always are'),
  STOP_WITH_PARENT: flag().default(false).describe('Stop when standard input closes'),
  SHUTDOWN_DELAY_MS: integer(0, 60_000)
    .default(0)
    .describe('Wait between readiness off and closing, in milliseconds'),
};

export const telemetrySettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: url(['http:', 'https:'])
    .optional()
    .describe('OTLP/HTTP base address for traces; none are exported without it'),
  OTEL_METRICS_EXPORTER: choice(['prometheus', 'otlp', 'none'])
    .default('prometheus')
    .describe('Metrics: answered at `/metrics` of the health port, pushed by OTLP, or off'),
  OTEL_TRACES_SAMPLER_ARG: ratio().default(1).describe('Share of traces started here that are kept'),
};

export const rpcTlsSettings = {
  RPC_TLS_DIRECTORY: text('the path of a folder')
    .optional()
    .describe('Folder with tls.crt, tls.key and ca.crt; without it gRPC between services is plaintext'),
};

export const rpcSettings = {
  RPC_HOST: text().default('0.0.0.0').describe('Address that answers gRPC'),
  RPC_PORT: port().describe('Port that answers gRPC'),
  MAX_CONNECTION_AGE_MS: integer(1_000, 3_600_000)
    .default(90_000)
    .describe('Age at which a gRPC client reconnects, in milliseconds'),
  ...rpcTlsSettings,
};
