{{/* Before any pod changes: what the migration needs is made with it, and goes with it. Of the weight, as text. */}}
{{- define "course-exchange.migrations.hook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}
