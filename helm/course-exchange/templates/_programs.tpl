{{/* What each program reads: its environment as a YAML map, of a context, and its secret files, of the root. */}}

{{/* The roles of Postgres by program, each under the prefix of its settings. */}}
{{- define "course-exchange.roles" -}}
{{- $identity := dict "POSTGRES" "identityRw" -}}
{{- if .Values.identity.operator.enabled }}{{ $_ := set $identity "OPERATOR_POSTGRES" "identityOperator" }}{{ end -}}
{{- $catalog := dict "POSTGRES" "catalogRo" -}}
{{- if .Values.designCatalog.feed.enabled }}{{ $_ := set $catalog "FEED_POSTGRES" "catalogFeed" }}{{ end -}}
identity: {{ toJson $identity }}
design-catalog: {{ toJson $catalog }}
migrations.identity: {{ set (deepCopy $identity) "MIGRATOR_POSTGRES" "identityMigrator" | toJson }}
migrations.design-catalog: {{ set (deepCopy $catalog) "MIGRATOR_POSTGRES" "catalogMigrator" | toJson }}
migrations.seed: { MIGRATOR_POSTGRES: identityMigrator }
{{- end -}}

{{- define "course-exchange.gateway.env" -}}
{{ include "course-exchange.serverEnv" (list . (list "IDENTITY" "identity") (list "CATALOG" "design-catalog")) }}
{{- with .values.trustedProxies }}
TRUSTED_PROXIES: {{ join "," . | quote }}
{{- end }}
{{- range $link, $url := .values.links }}
{{- if $url }}
LINK_{{ snakecase $link | upper }}: {{ $url | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.gateway.files" -}}{{- end -}}

{{- define "course-exchange.identity.env" -}}
{{ include "course-exchange.serverEnv" (list .) }}
{{- include "course-exchange.callersEnv" (list . (list "GATEWAY" "gateway" "gateway") (list "CATALOG" "design-catalog" "designCatalog")) }}
ENVIRONMENT: {{ .root.Values.environment }}
ACCESS_TOKEN_ALGORITHM: {{ .root.Values.identity.accessTokenAlgorithm }}
APPROVAL_BY_ANOTHER_OPERATOR: {{ .values.operator.approvalByAnother | quote }}
LOGIN_HASHING_CONCURRENCY: {{ int .values.loginHashingConcurrency | quote }}
MAX_REFRESH_FAMILIES: {{ int .values.maxRefreshFamilies | quote }}
POSTGRES_POOL_SIZE: {{ int .values.postgresPoolSize | quote }}
{{- include "course-exchange.postgres.env" (list .root "identity") }}
{{- include "course-exchange.redis.env" .root }}
{{- end -}}

{{- define "course-exchange.identity.files" -}}
{{- include "course-exchange.keyEncryption.files" . }}
{{- include "course-exchange.userHashKey.file" . }}
{{- include "course-exchange.postgres.files" (list . "identity") }}
{{- include "course-exchange.privatePort.files" (list "OPERATOR" .Values.identity.operator) }}
{{- include "course-exchange.redis.files" . }}
{{- end -}}

{{- define "course-exchange.design-catalog.env" -}}
{{ include "course-exchange.serverEnv" (list . (list "IDENTITY" "identity")) }}
{{- include "course-exchange.callersEnv" (list . (list "GATEWAY" "gateway" "gateway")) }}
ACCESS_TOKEN_ALGORITHM: {{ .root.Values.identity.accessTokenAlgorithm }}
POSTGRES_POOL_SIZE: {{ int .values.postgresPoolSize | quote }}
{{- include "course-exchange.postgres.env" (list .root "design-catalog") }}
{{- end -}}

{{- define "course-exchange.design-catalog.files" -}}
{{- include "course-exchange.userHashKey.file" . }}
{{- include "course-exchange.postgres.files" (list . "design-catalog") }}
{{- include "course-exchange.privatePort.files" (list "FEED" .Values.designCatalog.feed) }}
{{- end -}}

{{- define "course-exchange.demo-partner.env" -}}
{{ include "course-exchange.serverEnv" (list .) }}
PUBLIC_URL: {{ .values.publicUrl | quote }}
CLIENT_ID: paddock-planner
SCOPES: openid email profile
DATABASE_FILE: /data/demo-partner.sqlite
{{- end -}}

{{- define "course-exchange.demo-partner.files" -}}
{{- with .Values.demoPartner }}
- { path: CLIENT_SECRET, secret: {{ .existingSecret }}, key: client-secret }
- { path: TOKEN_ENCRYPTION_KEY, secret: {{ .existingSecret }}, key: token-encryption-key }
{{- end }}
{{- end -}}

{{- define "course-exchange.migrations.identity.env" -}}
{{ include "course-exchange.commonEnv" . }}
ENVIRONMENT: {{ .root.Values.environment }}
ISSUER: {{ .root.Values.issuer | quote }}
{{- if or .root.Values.ingress.enabled .root.Values.httpRoute.enabled }}
PUBLIC_HOST: {{ include "course-exchange.host" .root.Values.issuer | quote }}
{{- end }}
ACCESS_TOKEN_ALGORITHM: {{ .root.Values.identity.accessTokenAlgorithm }}
{{- include "course-exchange.postgres.env" (list .root "migrations.identity") }}
{{- include "course-exchange.redis.env" .root }}
{{- end -}}

{{- define "course-exchange.migrations.identity.files" -}}
{{- include "course-exchange.keyEncryption.files" . }}
{{- include "course-exchange.userHashKey.file" . }}
{{- include "course-exchange.postgres.files" (list . "migrations.identity") }}
{{- include "course-exchange.redis.files" . }}
{{- end -}}

{{- define "course-exchange.migrations.design-catalog.env" -}}
{{ include "course-exchange.commonEnv" . }}
ENVIRONMENT: {{ .root.Values.environment }}
{{- include "course-exchange.postgres.env" (list .root "migrations.design-catalog") }}
{{- end -}}

{{- define "course-exchange.migrations.design-catalog.files" -}}
{{- include "course-exchange.postgres.files" (list . "migrations.design-catalog") }}
{{- end -}}

{{- define "course-exchange.migrations.seed.env" -}}
{{ include "course-exchange.commonEnv" . }}
ENVIRONMENT: {{ .root.Values.environment }}
{{- include "course-exchange.postgres.env" (list .root "migrations.seed") }}
{{- if .root.Values.migrations.seed.existingSecret }}
SEED_PATH: {{ include "course-exchange.secretsDirectory" . }}/seed.json
{{- end }}
{{- if .root.Values.demoPartner.enabled }}
DEMO_PARTNER_URL: {{ .root.Values.demoPartner.publicUrl | quote }}
{{- end }}
{{- end -}}

{{- define "course-exchange.migrations.seed.files" -}}
{{- include "course-exchange.postgres.files" (list . "migrations.seed") }}
{{- with .Values.migrations.seed.existingSecret }}
- { path: seed.json, secret: {{ . }}, key: seed.json }
{{- end }}
{{- end -}}

{{/* `helm test`: where the contract suite finds the release, and its partner and user. */}}
{{- define "course-exchange.contract-tests.env" -}}
CONTRACT_ISSUER: {{ .root.Values.issuer | quote }}
CONTRACT_BASE_URL: {{ printf "http://%s:%v" (include "course-exchange.serviceName" (list .root "gateway")) (include "course-exchange.ports" .root | fromYaml).gateway.http | quote }}
{{- if .values.existingSecret }}
CONTRACT_STACK: {{ include "course-exchange.secretsDirectory" . }}/stack.json
{{- else }}
CONTRACT_DEMO: "true"
CONTRACT_DEMO_PARTNER_URL: {{ .root.Values.demoPartner.publicUrl | quote }}
{{- end }}
{{- end -}}

{{- define "course-exchange.contract-tests.files" -}}
{{- with .Values.tests.existingSecret }}
- { path: stack.json, secret: {{ . }}, key: stack.json }
{{- end }}
{{- end -}}

{{/* Whether there is a partner to test with, as text: "" for no. */}}
{{- define "course-exchange.contract-tests.wanted" -}}
{{- if or .Values.tests.existingSecret .Values.demoPartner.enabled }}true{{ end -}}
{{- end -}}

{{- define "course-exchange.keyEncryption.files" -}}
{{- with .Values.secrets }}
- { path: KEY_ENCRYPTION_KEY, secret: {{ .existingSecret }}, key: key-encryption-key }
{{- with .keyEncryptionKeyPreviousKey }}
- { path: KEY_ENCRYPTION_KEY_PREVIOUS, secret: {{ $.Values.secrets.existingSecret }}, key: {{ . }} }
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.userHashKey.file" }}
- { path: USER_HASH_KEY, secret: {{ .Values.secrets.existingSecret }}, key: user-hash-key }
{{- end -}}

{{/* Certificates that open a private port to the network, of (list prefix values). */}}
{{- define "course-exchange.privatePort.files" -}}
{{- $prefix := first . -}}
{{- with last . }}{{ if and .enabled .tlsSecret }}
- { path: {{ $prefix }}_TLS_CERT, secret: {{ .tlsSecret }}, key: tls.crt }
- { path: {{ $prefix }}_TLS_KEY, secret: {{ .tlsSecret }}, key: tls.key }
- { path: {{ $prefix }}_TLS_CA, secret: {{ .tlsSecret }}, key: ca.crt }
{{- end }}{{ end }}
{{- end -}}
