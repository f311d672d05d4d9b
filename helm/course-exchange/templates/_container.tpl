{{/* What all containers have in common, of a context (dict root component values). */}}

{{/* Image, flags and program: Node is the image's entry point. `program` is the path of the bundle in the image. */}}
{{- define "course-exchange.run" -}}
image: {{ include "course-exchange.image" (list .root (default .component .image) .values.image) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args:
  {{- range .values.nodeFlags }}
  - {{ . | quote }}
  {{- end }}
  - {{ .program }}
  {{- range .arguments }}
  - {{ . | quote }}
  {{- end }}
# `kubectl describe` then says why a program ended: its last lines, which hold no secret (R27).
terminationMessagePolicy: FallbackToLogsOnError
securityContext:
  {{- toYaml .values.containerSecurityContext | nindent 2 }}
{{- with .values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Environment that every program reads. */}}
{{- define "course-exchange.commonEnv" -}}
# Without it glibc keeps an arena for each thread of Node: 20 MiB and more that nobody uses.
- name: MALLOC_ARENA_MAX
  value: "2"
- name: LOG_LEVEL
  value: {{ .values.logLevel }}
{{- with (.root.Values.telemetry).endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
- name: OTEL_TRACES_SAMPLER_ARG
  value: {{ $.root.Values.telemetry.samplerRatio | quote }}
{{- end }}
{{- end -}}

{{/* Stays out of the way of SIGTERM until load balancers and DNS have forgotten the pod. */}}
{{- define "course-exchange.lifecycle" -}}
{{- with int .values.preStopSeconds }}
lifecycle:
  preStop:
    sleep:
      seconds: {{ . }}
{{- end }}
{{- end -}}

{{/* Only /livez restarts a container: a store that is away is no reason to. */}}
{{- define "course-exchange.probes" -}}
{{- $paths := dict "startup" "/livez" "readiness" "/readyz" "liveness" "/livez" -}}
{{- range list "startup" "readiness" "liveness" }}
{{ . }}Probe:
  httpGet:
    path: {{ get $paths . }}
    port: health
  {{- toYaml (get $.values.probes .) | nindent 2 }}
{{- end }}
{{- end -}}
