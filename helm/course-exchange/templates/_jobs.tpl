{{/* Jobs that are hooks, the steps of the migration Job, and the CronJobs that call identity's operator port. */}}

{{/* Steps in order, as YAML: both checks before anything changes, both migrations, then the seed of a test environment. The first check
     does not end the Job, so that both report their failures; the third step repeats it. */}}
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

{{/* A Job of (list root component): annotations and spec are in the template NAME.job. No Job can be changed. Where hooks run, the one
     before is deleted first. A tool that runs none, and so asks no cluster, gets another name for each spec. */}}
{{- define "course-exchange.job" -}}
{{- $root := first . -}}
{{- $component := last . -}}
{{- $job := include (printf "course-exchange.%s.job" $component) $root | fromYaml -}}
{{- $name := $component -}}
{{- if not (include "course-exchange.cluster.answers" $root) -}}
{{- $name = printf "%s-%s" $component (toJson $job.spec | sha256sum | trunc 8) -}}
{{- end -}}
apiVersion: batch/v1
kind: Job
metadata:
  {{- include "course-exchange.metadata" (list $root $component $name) | nindent 2 }}
  {{- include "course-exchange.annotations" $job.annotations | nindent 2 }}
spec:
  {{- toYaml $job.spec | nindent 2 }}
{{- end -}}

{{/* Annotations of what is created before any pod changes, and removed when the Job succeeds. Takes the weight, as text. */}}
{{- define "course-exchange.migrations.hook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{/* The CronJobs that values ask for, each with the Secret of its certificate, as YAML. */}}
{{- define "course-exchange.operatorJobs" -}}
{{- range $job, $values := dict "key-rotation" .Values.identity.keyRotation "audit-export" .Values.identity.auditExport }}
{{- with $values.tlsSecret }}
{{ $job }}: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Runs `partnerctl`, of a dict: root, component, tlsSecret, arguments and `volumes`, which are mounted below /run/course-exchange.
     Its pod has identity's values except those for its server. */}}
{{- define "course-exchange.operatorJob" -}}
{{- $values := omit (include "course-exchange.values" (list .root "identity") | fromJson) "extraEnv" "extraEnvFrom" "serviceAccount" }}
{{- $_ := set $values "resources" (dict "requests" (dict "cpu" "50m" "memory" "96Mi") "limits" (dict "memory" "256Mi")) }}
{{- $mounts := list }}
{{- range .volumes }}{{ $mounts = append $mounts (dict "name" .name "mountPath" (printf "/run/course-exchange/%s" .name)) }}{{ end }}
{{- $_ := set $values "extraVolumes" .volumes }}
{{- $_ := set $values "extraVolumeMounts" $mounts }}
{{- $address := printf "https://%s:7201" (include "course-exchange.serviceName" (list .root "identity-operator")) }}
{{- $context := dict "root" .root "component" .component "image" "identity" "values" $values "files" "" }}
{{- $_ := set $context "program" "/app/partnerctl.js" }}
{{- $_ := set $context "arguments" (concat (list "--identity" $address) .arguments) }}
{{- $_ := set $context "certificates" (dict "operator" .tlsSecret) }}
{{- $_ := set $context "env" (include "course-exchange.operatorJob.env" .) }}
apiVersion: batch/v1
kind: CronJob
metadata:
  {{- include "course-exchange.metadata" (list .root .component) | nindent 2 }}
spec:
  schedule: "*/10 * * * *"
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 300
  successfulJobsHistoryLimit: 1
  failedJobsHistoryLimit: 3
  jobTemplate:
    spec:
      backoffLimit: 0
      # An alert about a failed Job fires as long as the Job exists.
      ttlSecondsAfterFinished: 3600
      activeDeadlineSeconds: 120
      template:
        metadata:
          {{- include "course-exchange.podMetadata" $context | nindent 10 }}
        spec:
          {{- include "course-exchange.podSpec" $context | nindent 10 }}
          restartPolicy: Never
          containers:
            {{- include "course-exchange.container" $context | nindent 12 }}
          {{- include "course-exchange.volumes" $context | nindent 10 }}
{{- end -}}

{{- define "course-exchange.operatorJob.env" -}}
{{- range $setting, $file := dict "CERT" "tls.crt" "KEY" "tls.key" "CA" "ca.crt" }}
PARTNERCTL_TLS_{{ $setting }}: /run/course-exchange/operator/{{ $file }}
{{- end }}
{{- end -}}
