{{/* Steps of the migration Job, in order, as YAML: both checks before anything changes, then both migrations, then the seed of a
     test environment. The first check ends the Job only in the third step, which repeats it: so both tell their faults. */}}
{{- define "course-exchange.migrations.steps" -}}
- { name: check-identity, reads: identity, program: /app/services/identity/src/migrate.js, arguments: [--report] }
- { name: check-design-catalog, reads: design-catalog, program: /app/services/design-catalog/src/migrate.js, arguments: [--check] }
{{- range list "identity" "design-catalog" }}
- { name: migrate-{{ . }}, reads: {{ . }}, program: /app/services/{{ . }}/src/migrate.js }
{{- end }}
{{- if and (eq .Values.environment "test") (or .Values.migrations.seed.existingSecret .Values.demoPartner.enabled) }}
- { name: seed, reads: seed, program: /app/seed.js }
{{- end }}
{{- end -}}

{{/* Made before any pod changes, together with what the migration needs, and removed with it. Of the weight, as text. */}}
{{- define "course-exchange.migrations.hook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}
