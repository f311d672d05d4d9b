{{/* What each program reads: its environment as a YAML map, of (list context program), and its secret files, of (list root program). */}}

{{/* The roles of Postgres by program, each under the prefix of its settings. A private port exists if its role has a Secret. */}}
{{- define "course-exchange.roles" -}}
{{- $roles := .Values.postgres.roles -}}
{{- $identity := dict "POSTGRES" "identityRw" -}}
{{- if $roles.identityOperator.existingSecret }}{{ $_ := set $identity "OPERATOR_POSTGRES" "identityOperator" }}{{ end -}}
{{- $catalog := dict "POSTGRES" "catalogRo" -}}
{{- if $roles.catalogFeed.existingSecret }}{{ $_ := set $catalog "FEED_POSTGRES" "catalogFeed" }}{{ end -}}
identity: {{ toJson $identity }}
design-catalog: {{ toJson $catalog }}
migrations.identity: {{ set (deepCopy $identity) "MIGRATOR_POSTGRES" "identityMigrator" | toJson }}
migrations.design-catalog: {{ set (deepCopy $catalog) "MIGRATOR_POSTGRES" "catalogMigrator" | toJson }}
migrations.seed: { MIGRATOR_POSTGRES: identityMigrator }
{{- end -}}

{{- define "course-exchange.programEnv" -}}
{{- $context := first . -}}
{{- $program := last . -}}
{{- $root := $context.root -}}
{{- $ofIdentity := has $program (list "identity" "migrations.identity") -}}
{{- with $root.Values -}}
{{- if ne $program "contract-tests" }}
# By default glibc keeps an arena for each thread of Node, 20 MiB and more.
MALLOC_ARENA_MAX: "2"
LOG_LEVEL: {{ $context.values.logLevel }}
{{- if .telemetry.endpoint }}
OTEL_EXPORTER_OTLP_ENDPOINT: {{ .telemetry.endpoint | quote }}
# Without an exponent, which programs refuse.
OTEL_TRACES_SAMPLER_ARG: {{ regexReplaceAllLiteral "[.]?0+$" (printf "%.9f" (float64 .telemetry.samplerRatio)) "" | quote }}
{{- end }}
{{- end }}
{{- range $name, $port := $context.ports }}
{{- /* An IPv6 address needs brackets in RPC_HOST. */}}
{{- $isRpc := eq $name "grpc" }}
{{- $prefix := $isRpc | ternary "RPC" (upper $name) }}
{{ $prefix }}_HOST: {{ $isRpc | ternary (regexReplaceAll "^(.*:.*)$" $root.Values.listenAddress "[${1}]") $root.Values.listenAddress | quote }}
{{- if has $name (list "health" "http" "grpc") }}
{{ $prefix }}_PORT: {{ int $port | quote }}
{{- end }}
{{- end }}
{{- if and $context.ports .internalTls.enabled (ne $program "demo-partner") }}
# The certificates' Secret is mounted whole, never by subPath, so that a change reaches the folder.
RPC_TLS_DIRECTORY: /run/course-exchange/tls
{{- end }}
{{- if or $context.ports (eq $program "migrations.identity") }}
ISSUER: {{ .issuer | quote }}
{{- end }}
{{- if or $ofIdentity (hasPrefix "migrations." $program) }}
ENVIRONMENT: {{ .environment }}
{{- end }}
{{- if or $ofIdentity (eq $program "design-catalog") }}
ACCESS_TOKEN_ALGORITHM: {{ .identity.accessTokenAlgorithm }}
{{- end }}
{{- include "course-exchange.postgres.env" (list $root $program) }}
{{- if $ofIdentity }}{{ include "course-exchange.redis.env" $root }}{{ end }}
{{- if eq $program "gateway" }}
{{- include "course-exchange.targetEnv" (list $root (dict "IDENTITY" "identity" "CATALOG" "design-catalog")) }}
{{- with $context.values.trustedProxies }}
TRUSTED_PROXIES: {{ join "," . | quote }}
{{- end }}
{{- else if eq $program "identity" }}
{{- include "course-exchange.callersEnv" (list $root (dict "GATEWAY" "gateway" "CATALOG" "design-catalog")) }}
{{- else if eq $program "design-catalog" }}
{{- include "course-exchange.targetEnv" (list $root (dict "IDENTITY" "identity")) }}
{{- include "course-exchange.callersEnv" (list $root (dict "GATEWAY" "gateway")) }}
{{- else if eq $program "demo-partner" }}
PUBLIC_URL: {{ .demoPartner.publicUrl | quote }}
CLIENT_ID: paddock-planner
SCOPES: openid email profile
DATABASE_FILE: /data/demo-partner.sqlite
{{- else if eq $program "migrations.seed" }}
{{- if .migrations.seed.existingSecret }}
SEED_PATH: {{ include "course-exchange.secretsDirectory" . }}/seed.json
{{- end }}
{{- if .demoPartner.enabled }}
DEMO_PARTNER_URL: {{ .demoPartner.publicUrl | quote }}
{{- end }}
{{- else if eq $program "contract-tests" }}
{{- /* `helm test`: where the contract suite finds the release, and its partner and user. */}}
CONTRACT_ISSUER: {{ .issuer | quote }}
CONTRACT_BASE_URL: http://{{ include "course-exchange.serviceName" (list $root "gateway") }}:{{ (include "course-exchange.ports" $root | fromYaml).gateway.http }}
{{- if .tests.existingSecret }}
CONTRACT_STACK: {{ include "course-exchange.secretsDirectory" . }}/stack.json
{{- else }}
CONTRACT_DEMO: "true"
CONTRACT_DEMO_PARTNER_URL: {{ .demoPartner.publicUrl | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Targets that a component calls by gRPC, of (list root names), with components by NAME. */}}
{{- define "course-exchange.targetEnv" -}}
{{- range $name, $component := last . }}
{{- $port := (get (include "course-exchange.ports" (first $) | fromYaml) $component).grpc }}
{{ $name }}_TARGET: dns:///{{ include "course-exchange.serviceName" (list (first $) $component) }}:{{ $port }}
{{- end }}
{{- end -}}

{{/* Names with which components may call, of the same: those of their Services, with and without the cluster's domain. */}}
{{- define "course-exchange.callersEnv" -}}
{{- $values := (first .).Values -}}
{{- range $name, $component := $values.internalTls.enabled | ternary (last .) dict }}
{{- $whole := include "course-exchange.serviceName" (list (first $) $component) }}
{{ $name }}_TLS_NAMES: {{ $whole }},{{ trimSuffix (printf ".%s" $values.clusterDomain) $whole }}
{{- end }}
{{- end -}}

{{/* Whether there is a partner to test with, as text: "" for no. */}}
{{- define "course-exchange.contract-tests.wanted" -}}
{{- if or .Values.tests.existingSecret .Values.demoPartner.enabled }}true{{ end -}}
{{- end -}}

{{- define "course-exchange.files" -}}
{{- $program := last . -}}
{{- $ofIdentity := has $program (list "identity" "migrations.identity") -}}
{{- with (first .).Values -}}
{{- $keys := .secrets.existingSecret }}
{{- if $ofIdentity }}
- { path: KEY_ENCRYPTION_KEY, secret: {{ $keys }}, key: key-encryption-key }
{{- with .secrets.keyEncryptionKeyPreviousKey }}
- { path: KEY_ENCRYPTION_KEY_PREVIOUS, secret: {{ $keys }}, key: {{ . }} }
{{- end }}
{{- include "course-exchange.redis.files" .redis }}
{{- end }}
{{- if or $ofIdentity (eq $program "design-catalog") }}
- { path: USER_HASH_KEY, secret: {{ $keys }}, key: user-hash-key }
{{- end }}
{{- include "course-exchange.postgres.files" $ }}
{{- $port := get (dict "identity" (list "OPERATOR" .identity.operator.tlsSecret) "design-catalog" (list "FEED" .designCatalog.feed.tlsSecret)) $program }}
{{- range $setting, $key := empty (last (default (list "") $port)) | ternary dict (dict "CERT" "tls.crt" "KEY" "tls.key" "CA" "ca.crt") }}
- { path: {{ first $port }}_TLS_{{ $setting }}, secret: {{ last $port }}, key: {{ $key }} }
{{- end }}
{{- if eq $program "demo-partner" }}
- { path: CLIENT_SECRET, secret: {{ .demoPartner.existingSecret }}, key: client-secret }
- { path: TOKEN_ENCRYPTION_KEY, secret: {{ .demoPartner.existingSecret }}, key: token-encryption-key }
{{- end }}
{{- $given := get (dict "migrations.seed" (list .migrations.seed.existingSecret "seed.json") "contract-tests" (list .tests.existingSecret "stack.json")) $program }}
{{- if first (default (list "") $given) }}
- { path: {{ last $given }}, secret: {{ first $given }}, key: {{ last $given }} }
{{- end }}
{{- end }}
{{- end -}}
