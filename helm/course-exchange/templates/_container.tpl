{{/* A container, of a context: root, component, values; program, arguments; env and files, as YAML; and optional certificates, scratch,
     ports and secretVolume. `name` and `image` are the component's by default. */}}

{{- define "course-exchange.container" -}}
- name: {{ default .component .name }}
  image: {{ include "course-exchange.image" (list .root (default .component .image) .values.image) }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  {{- with .program }}
  # Node is the image's entry point.
  args:
    {{- range $.values.nodeFlags }}
    - {{ . | quote }}
    {{- end }}
    - {{ . }}
    {{- range $.arguments }}
    - {{ . | quote }}
    {{- end }}
  {{- end }}
  # `kubectl describe` shows a failed program's last log lines, which hold no secret (R27).
  terminationMessagePolicy: FallbackToLogsOnError
  securityContext:
    {{- toYaml .values.containerSecurityContext | nindent 4 }}
  {{- with .values.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .ports }}
  {{- include "course-exchange.probes" $.values | nindent 2 }}
  ports:
    {{- range $name, $port := . }}
    - { name: {{ $name }}, containerPort: {{ $port }}, protocol: TCP }
    {{- end }}
  {{- end }}
  env:
    {{- range $name, $value := include "course-exchange.env" . | fromYaml }}
    - { name: {{ $name }}, value: {{ quote $value }} }
    {{- end }}
    {{- with .values.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .values.extraEnvFrom }}
  envFrom:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- include "course-exchange.volumeMounts" . | nindent 2 }}
{{- end -}}

{{/* Takes (list root component image): `component` names the image, and the component's values have `image`. */}}
{{- define "course-exchange.image" -}}
{{- $root := index . 0 -}}
{{- $own := default dict (index . 2) -}}
{{- $shared := $root.Values.image -}}
{{- $registry := default $shared.registry (dig "imageRegistry" "" (default dict $root.Values.global)) -}}
{{- $repository := default (printf "%s/%s" $shared.repository (index . 1)) $own.repository -}}
{{- $tag := default (default $root.Chart.AppVersion $shared.tag) $own.tag -}}
{{- if $registry }}{{ $registry }}/{{ end }}{{ $repository }}:{{ $tag }}{{ with $own.digest }}@{{ . }}{{ end }}
{{- end -}}

{{/* Probes, and the pause before SIGTERM in which load balancers and DNS drop the pod. Only /livez restarts a container: a store that is
     down does not. */}}
{{- define "course-exchange.probes" -}}
{{- with int .preStopSeconds }}
lifecycle: { preStop: { sleep: { seconds: {{ . }} } } }
{{- end }}
startupProbe:
  httpGet: { path: /livez, port: health }
  periodSeconds: 1
  timeoutSeconds: 1
  failureThreshold: 60
readinessProbe:
  httpGet: { path: /readyz, port: health }
  periodSeconds: 1
  timeoutSeconds: 1
  failureThreshold: 4
livenessProbe:
  httpGet: { path: /livez, port: health }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end -}}

{{/* Environment that all programs of the release read, of a context. */}}
{{- define "course-exchange.commonEnv" -}}
# By default glibc keeps an arena for each thread of Node, 20 MiB and more.
MALLOC_ARENA_MAX: "2"
LOG_LEVEL: {{ .values.logLevel }}
{{- with .root.Values.telemetry.endpoint }}
OTEL_EXPORTER_OTLP_ENDPOINT: {{ . | quote }}
# Without an exponent, which programs refuse.
OTEL_TRACES_SAMPLER_ARG: {{ regexReplaceAllLiteral "[.]?0+$" (printf "%.9f" (float64 $.root.Values.telemetry.samplerRatio)) "" | quote }}
{{- end }}
{{- end -}}

{{/* Environment of a server, of (list context target…). A target, which it calls by gRPC, is (list NAME component). The certificates'
     Secret is mounted whole, never by subPath, so that a change reaches the folder. */}}
{{- define "course-exchange.serverEnv" -}}
{{- $context := first . -}}
{{- $root := $context.root -}}
{{- $ports := include "course-exchange.ports" $root | fromYaml -}}
ISSUER: {{ $root.Values.issuer | quote }}
{{ include "course-exchange.commonEnv" $context }}
{{ include "course-exchange.listenEnv" $context }}
{{- range rest . }}
{{ first . }}_TARGET: dns:///{{ include "course-exchange.serviceName" (list $root (last .)) }}:{{ get $ports (last .) | dig "grpc" 0 }}
{{- end }}
{{- if and $root.Values.internalTls.enabled (ne $context.component "demo-partner") }}
RPC_TLS_DIRECTORY: /run/course-exchange/tls
{{- end }}
{{- end -}}

{{/* Names with which a component may call, of (list context (list NAME component key)…): its Service's, with and without the cluster's
     domain, and those of the values. */}}
{{- define "course-exchange.callersEnv" -}}
{{- $root := (first .).root -}}
{{- if $root.Values.internalTls.enabled }}
{{- range rest . }}
{{- $name := include "course-exchange.serviceName" (list $root (index . 1)) }}
{{- $short := trimSuffix (printf ".%s" $root.Values.clusterDomain) $name }}
{{ first . }}_TLS_NAMES: {{ concat (list $name $short) (get $root.Values.internalTls.callerNames (last .)) | join "," | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The addresses on which a server listens, of a context with `ports`. */}}
{{- define "course-exchange.listenEnv" -}}
{{- $address := .root.Values.listenAddress -}}
HEALTH_HOST: {{ $address | quote }}
HEALTH_PORT: {{ int .ports.health | quote }}
{{- with .ports.http }}
HTTP_HOST: {{ $address | quote }}
HTTP_PORT: {{ int . | quote }}
{{- end }}
{{- with .ports.grpc }}
# An IPv6 address needs brackets here.
RPC_HOST: {{ regexReplaceAll "^(.*:.*)$" $address "[${1}]" | quote }}
RPC_PORT: {{ int . | quote }}
{{- end }}
{{- range pick .ports "operator" "feed" | keys | sortAlpha }}
{{ upper . }}_HOST: {{ $address | quote }}
{{- end }}
{{- end -}}
