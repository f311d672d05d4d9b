{{/* Design-catalog's settings, of a context (dict root component values); and the files of its secrets. */}}
{{- define "course-exchange.designCatalog.env" -}}
{{- $root := .root -}}
- name: ISSUER
  value: {{ $root.Values.issuer | quote }}
{{ include "course-exchange.rpc.env" (list $root 7002 7102) }}
- name: IDENTITY_TARGET
  value: {{ include "course-exchange.rpc.target" (list $root "identity" 7001) | quote }}
{{- include "course-exchange.internalTls.env" $root }}
- name: ACCESS_TOKEN_ALGORITHM
  value: {{ $root.Values.identity.accessTokenAlgorithm }}
- name: POSTGRES_POOL_SIZE
  value: {{ int .values.postgresPoolSize | quote }}
{{- include "course-exchange.postgres.env" (list $root "catalogRo" "POSTGRES") }}
{{- if .values.feed.enabled }}
{{- include "course-exchange.postgres.env" (list $root "catalogFeed" "FEED_POSTGRES") }}
{{- include "course-exchange.privatePort.env" (list $root "FEED" .values.feed.tlsSecret) }}
{{- end }}
{{- end -}}

{{/* Of the root. */}}
{{- define "course-exchange.designCatalog.files" -}}
- { path: USER_HASH_KEY, secret: {{ .Values.secrets.existingSecret }}, key: {{ .Values.secrets.userHashKeyKey }} }
{{- include "course-exchange.postgres.authority" . }}
{{- include "course-exchange.postgres.files" (list . "catalogRo" "POSTGRES") }}
{{- with .Values.designCatalog.feed }}{{ if .enabled }}
{{- include "course-exchange.postgres.files" (list $ "catalogFeed" "FEED_POSTGRES") }}
{{- include "course-exchange.privatePort.files" (list "FEED" .tlsSecret) }}
{{- end }}{{ end }}
{{- end -}}
