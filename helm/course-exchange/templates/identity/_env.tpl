{{/* Identity's settings, of a context (dict root component values); and the files of its secrets. */}}
{{- define "course-exchange.identity.env" -}}
{{- $root := .root -}}
- name: ENVIRONMENT
  value: {{ $root.Values.environment }}
- name: ISSUER
  value: {{ $root.Values.issuer | quote }}
{{ include "course-exchange.rpc.env" (list $root 7001 7101) }}
{{- include "course-exchange.internalTls.env" $root }}
- name: ACCESS_TOKEN_ALGORITHM
  value: {{ $root.Values.identity.accessTokenAlgorithm }}
- name: LOGIN_HASHING_CONCURRENCY
  value: {{ int .values.loginHashingConcurrency | quote }}
- name: POSTGRES_POOL_SIZE
  value: {{ int .values.postgresPoolSize | quote }}
{{- include "course-exchange.postgres.env" (list $root "identityRw" "POSTGRES") }}
{{- if .values.operator.enabled }}
{{- include "course-exchange.postgres.env" (list $root "identityOperator" "OPERATOR_POSTGRES") }}
{{- include "course-exchange.privatePort.env" (list $root "OPERATOR" .values.operator.tlsSecret) }}
{{- end }}
{{- include "course-exchange.redis.env" $root }}
{{- end -}}

{{/* Of the root. */}}
{{- define "course-exchange.identity.files" -}}
{{- include "course-exchange.keyEncryption.files" . }}
- { path: USER_HASH_KEY, secret: {{ .Values.secrets.existingSecret }}, key: {{ .Values.secrets.userHashKeyKey }} }
{{- include "course-exchange.postgres.authority" . }}
{{- include "course-exchange.postgres.files" (list . "identityRw" "POSTGRES") }}
{{- with .Values.identity.operator }}{{ if .enabled }}
{{- include "course-exchange.postgres.files" (list $ "identityOperator" "OPERATOR_POSTGRES") }}
{{- include "course-exchange.privatePort.files" (list "OPERATOR" .tlsSecret) }}
{{- end }}{{ end }}
{{- include "course-exchange.redis.files" . }}
{{- end -}}

{{/* What opens the signing keys; identity's migration reads it too. */}}
{{- define "course-exchange.keyEncryption.files" -}}
{{- with .Values.secrets }}
- { path: KEY_ENCRYPTION_KEY, secret: {{ .existingSecret }}, key: {{ .keyEncryptionKeyKey }} }
{{- with .keyEncryptionKeyPreviousKey }}
- { path: KEY_ENCRYPTION_KEY_PREVIOUS, secret: {{ $.Values.secrets.existingSecret }}, key: {{ . }} }
{{- end }}
{{- end }}
{{- end -}}
