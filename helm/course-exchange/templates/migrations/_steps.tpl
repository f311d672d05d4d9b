{{/* Steps of the migration Job, in order: both checks before anything changes, then both migrations, then the seed of a
     test environment. All steps are init containers but the last. */}}

{{/* Whether a test environment is to be filled, as text: "" for no. */}}
{{- define "course-exchange.migrations.seeds" -}}
{{- if and (eq .Values.environment "test") (or .Values.migrations.seed.existingSecret .Values.demoPartner.enabled) }}true{{ end -}}
{{- end -}}

{{- define "course-exchange.migrations.identityEnv" -}}
{{- $root := .root -}}
- name: ENVIRONMENT
  value: {{ $root.Values.environment }}
- name: ISSUER
  value: {{ $root.Values.issuer | quote }}
{{- if or $root.Values.ingress.enabled ($root.Values.httpRoute).enabled }}
- name: PUBLIC_HOST
  value: {{ include "course-exchange.host" $root.Values.issuer | quote }}
{{- end }}
- name: ACCESS_TOKEN_ALGORITHM
  value: {{ $root.Values.identity.accessTokenAlgorithm }}
{{- include "course-exchange.postgres.env" (list $root "identityMigrator" "MIGRATOR_POSTGRES") }}
{{- include "course-exchange.postgres.env" (list $root "identityRw" "POSTGRES") }}
{{- if $root.Values.identity.operator.enabled }}
{{- include "course-exchange.postgres.env" (list $root "identityOperator" "OPERATOR_POSTGRES") }}
{{- end }}
{{- include "course-exchange.redis.env" $root }}
{{- end -}}

{{- define "course-exchange.migrations.identityFiles" -}}
{{- include "course-exchange.keyEncryption.files" . }}
{{- include "course-exchange.postgres.authority" . }}
{{- include "course-exchange.postgres.files" (list . "identityMigrator" "MIGRATOR_POSTGRES") }}
{{- include "course-exchange.postgres.files" (list . "identityRw" "POSTGRES") }}
{{- if .Values.identity.operator.enabled }}
{{- include "course-exchange.postgres.files" (list . "identityOperator" "OPERATOR_POSTGRES") }}
{{- end }}
{{- include "course-exchange.redis.files" . }}
{{- end -}}

{{- define "course-exchange.migrations.catalogEnv" -}}
{{- $root := .root -}}
- name: ENVIRONMENT
  value: {{ $root.Values.environment }}
{{- include "course-exchange.postgres.env" (list $root "catalogMigrator" "MIGRATOR_POSTGRES") }}
{{- include "course-exchange.postgres.env" (list $root "catalogRo" "POSTGRES") }}
{{- if $root.Values.designCatalog.feed.enabled }}
{{- include "course-exchange.postgres.env" (list $root "catalogFeed" "FEED_POSTGRES") }}
{{- end }}
{{- end -}}

{{- define "course-exchange.migrations.catalogFiles" -}}
{{- include "course-exchange.postgres.authority" . }}
{{- include "course-exchange.postgres.files" (list . "catalogMigrator" "MIGRATOR_POSTGRES") }}
{{- include "course-exchange.postgres.files" (list . "catalogRo" "POSTGRES") }}
{{- if .Values.designCatalog.feed.enabled }}
{{- include "course-exchange.postgres.files" (list . "catalogFeed" "FEED_POSTGRES") }}
{{- end }}
{{- end -}}

{{- define "course-exchange.migrations.seedEnv" -}}
{{- $root := .root -}}
- name: ENVIRONMENT
  value: {{ $root.Values.environment }}
{{- include "course-exchange.postgres.env" (list $root "identityMigrator" "MIGRATOR_POSTGRES") }}
{{- if $root.Values.migrations.seed.existingSecret }}
- name: SEED_PATH
  value: {{ include "course-exchange.secretsDirectory" . }}/seed.json
{{- end }}
{{- if $root.Values.demoPartner.enabled }}
- name: DEMO_PARTNER_URL
  value: {{ $root.Values.demoPartner.publicUrl | quote }}
{{- end }}
{{- end -}}

{{- define "course-exchange.migrations.seedFiles" -}}
{{- include "course-exchange.postgres.authority" . }}
{{- include "course-exchange.postgres.files" (list . "identityMigrator" "MIGRATOR_POSTGRES") }}
{{- with .Values.migrations.seed }}{{ if .existingSecret }}
- { path: seed.json, secret: {{ .existingSecret }}, key: {{ .key }} }
{{- end }}{{ end }}
{{- end -}}

{{/* One container, of a context with `step`, `program`, `arguments`, `volume`, `env` and `files`. */}}
{{- define "course-exchange.migrations.step" -}}
- name: {{ .step }}
  {{- include "course-exchange.run" . | nindent 2 }}
  {{- $env := list .env (include "course-exchange.secretEnv" .files) (include "course-exchange.commonEnv" .) (include "course-exchange.listed" .values.extraEnv) }}
  {{- include "course-exchange.items" (list "env" $env) | nindent 2 }}
  volumeMounts:
    - name: {{ .volume }}
      mountPath: {{ include "course-exchange.secretsDirectory" . }}
      readOnly: true
    {{- with .values.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
