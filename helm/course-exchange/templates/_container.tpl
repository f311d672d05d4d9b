{{/* A container, of a context: root, component, values; program, arguments; env and files, as YAML; and optional certificates, scratch,
     ports and secretVolume. `name` and `image` are the component's by default. Node is the image's entry point. */}}

{{- define "course-exchange.container" -}}
- name: {{ default .component .name }}
  image: {{ include "course-exchange.image" (list .root (default .component .image)) }}
  {{- with .program }}
  args: {{ concat $.values.nodeFlags (list .) (default list $.arguments) | toJson }}
  {{- end }}
  # `kubectl describe` shows a failed program's last log lines, which hold no secret (R27).
  terminationMessagePolicy: FallbackToLogsOnError
  securityContext: {{ toJson .values.containerSecurityContext }}
  resources: {{ toJson .values.resources }}
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
    {{- range .values.extraEnv }}
    - {{ toJson . }}
    {{- end }}
  volumeMounts: {{ include "course-exchange.volumeMounts" . | fromYamlArray | toJson }}
{{- end -}}

{{/* Takes (list root name). */}}
{{- define "course-exchange.image" -}}
{{- $root := first . -}}
{{- with $root.Values.image -}}
{{- list (dig "imageRegistry" "" (default dict $root.Values.global)) .repository (last $) | compact | join "/" }}:{{ default $root.Chart.AppVersion .tag }}
{{- with get .digests (last $) }}@{{ . }}{{ end }}
{{- end -}}
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
