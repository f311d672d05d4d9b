{{/* CronJobs that call identity's operator port, each with a certificate of its own. */}}

{{/* Those that values ask for, with the Secret of the certificate, as YAML. */}}
{{- define "course-exchange.operatorJobs" -}}
{{- range $job, $values := dict "key-rotation" .Values.identity.keyRotation "audit-export" .Values.identity.auditExport }}
{{- with $values.tlsSecret }}
{{ $job }}: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Runs `partnerctl`, of a dict: root, component, tlsSecret, arguments and `volumes`, which are mounted below /run/course-exchange. As
     identity in all but what its server alone needs. */}}
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
      # What kube-state-metrics tells of a failed Job, and an alert with it, lasts as long as the Job.
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
