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

{{/* A Job, of a pod's context with `annotations` and the Job's seconds: `stays` and `deadline`. No Job can be changed. Where hooks run, the
     one before is deleted first. A tool that runs none, and so asks no cluster, gets another name for each spec. A failed Job is not
     repeated. */}}
{{- define "course-exchange.job" -}}
{{- $spec := dict "backoffLimit" 0 "ttlSecondsAfterFinished" .stays "activeDeadlineSeconds" (int .deadline) -}}
{{- $spec = include "course-exchange.podTemplate" . | fromYaml | merge $spec -}}
{{- $name := .component -}}
{{- if not (include "course-exchange.cluster.answers" .root) -}}
{{- $name = printf "%s-%s" .component (toJson $spec | sha256sum | trunc 8) -}}
{{- end -}}
apiVersion: batch/v1
kind: Job
{{ include "course-exchange.metadata" (merge (dict "name" $name) .) }}
spec:
  {{- toYaml $spec | nindent 2 }}
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

{{/* Runs `partnerctl`, of a dict: root, component, tlsSecret, arguments and an optional `claim`, mounted at /run/course-exchange/audit. Its
     pod has identity's values except those for its server. */}}
{{- define "course-exchange.operatorJob" -}}
{{- $values := pick (include "course-exchange.values" (list .root "identity") | fromJson) "podSecurityContext" "containerSecurityContext" "nodeFlags" "podLabels" "podAnnotations" "priorityClassName" "nodeSelector" "tolerations" "affinity" "dnsPolicy" "dnsConfig" "hostAliases" }}
{{- $_ := set $values "resources" (dict "requests" (dict "cpu" "50m" "memory" "96Mi") "limits" (dict "memory" "256Mi")) }}
{{- with .claim }}
{{- $_ := set $values "extraVolumes" (list (dict "name" "audit" "persistentVolumeClaim" (dict "claimName" .))) }}
{{- $_ := set $values "extraVolumeMounts" (list (dict "name" "audit" "mountPath" "/run/course-exchange/audit")) }}
{{- end }}
{{- $port := (include "course-exchange.ports" .root | fromYaml).identity.operator }}
{{- $address := printf "https://%s:%v" (include "course-exchange.serviceName" (list .root "identity-operator")) $port }}
{{- $context := dict "root" .root "component" .component "image" "identity" "values" $values "files" "" "program" "/app/partnerctl.js" }}
{{- $_ := set $context "arguments" (concat (list "--identity" $address) .arguments) }}
{{- $_ := set $context "certificates" (dict "operator" .tlsSecret) }}
{{- $directory := "/run/course-exchange/operator" }}
{{- $_ := set $context "env" (printf "{ PARTNERCTL_TLS_CERT: %s/tls.crt, PARTNERCTL_TLS_KEY: %[1]s/tls.key, PARTNERCTL_TLS_CA: %[1]s/ca.crt }" $directory) }}
apiVersion: batch/v1
kind: CronJob
{{ include "course-exchange.metadata" $context }}
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
      {{- include "course-exchange.podTemplate" $context | nindent 6 }}
{{- end -}}
