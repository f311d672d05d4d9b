{{/* What the components with a Deployment have in common. gateway.yaml, identity.yaml, design-catalog.yaml and demo-partner.yaml
     are made of these, each by its context: a dict that begins with `root`, `component` and `key`, the key of its values. */}}

{{/* Ports by component, as YAML. `http` or `grpc` is the component's own, `health` serves probes and metrics. The others are
     private: no route of the gateway leads there, and each listens on the pod's loopback address, for `kubectl exec`, until a
     Secret with certificates opens it to the network. */}}
{{- define "course-exchange.ports" -}}
gateway: { http: 8080, health: 8081 }
identity: { grpc: 7001, health: 7101, operator: 7201 }
design-catalog: { grpc: 7002, health: 7102, feed: 7301 }
demo-partner: { http: 9000, health: 9001 }
{{- end -}}

{{/* Adds to a context: `values`, `ports` that other pods reach, `certificates` (Secrets mounted whole), `program`, `env`, `files`. */}}
{{- define "course-exchange.context" -}}
{{- $values := include "course-exchange.values" (list .root .key) | fromJson -}}
{{- $ports := get (include "course-exchange.ports" .root | fromYaml) .component -}}
{{- range $port, $of := dict "operator" $values.operator "feed" $values.feed -}}
{{- if not (and $of $of.enabled $of.tlsSecret) }}{{ $ports = omit $ports $port }}{{ end -}}
{{- end -}}
{{- $_ := set . "values" $values -}}
{{- $_ := set . "ports" $ports -}}
{{- if and .replicated .root.Values.internalTls.enabled -}}
{{- $_ := set . "certificates" (dict "tls" (get (include "course-exchange.tlsSecrets" .root | fromYaml) .component)) -}}
{{- end -}}
{{- $_ := set . "program" (printf "/app/services/%s/src/main.js" .component) -}}
{{- $_ := set . "env" (include (printf "course-exchange.%s.env" .component) .) -}}
{{- $_ := set . "files" (include (printf "course-exchange.%s.files" .component) .root) -}}
{{- end -}}

{{/* The Secrets with the services' certificates, by component. */}}
{{- define "course-exchange.tlsSecrets" -}}
{{- range $component, $key := dict "gateway" "gateway" "identity" "identity" "design-catalog" "designCatalog" }}
{{ $component }}: {{ default (printf "%s-tls" (include "course-exchange.name" (list $ $component))) (get $.Values.internalTls.secretNames $key) }}
{{- end }}
{{- end -}}

{{/* `spec` of a Deployment: how it rolls out, and its pods. One that is not `replicated` has a single pod, and a new one starts
     only when the old one is gone. */}}
{{- define "course-exchange.deploymentSpec" -}}
{{- with .values -}}
{{- if not $.replicated -}}
replicas: 1
strategy: { type: Recreate }
{{- else -}}
{{ include "course-exchange.replicas" $ }}
minReadySeconds: 5
strategy:
  type: RollingUpdate
  rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
{{- end }}
revisionHistoryLimit: 5
selector:
  matchLabels:
    {{- include "course-exchange.selector" (list $.root $.component) | nindent 4 }}
template:
  metadata:
    {{- include "course-exchange.podMetadata" $ | nindent 4 }}
  spec:
    {{- include "course-exchange.podSpec" $ | nindent 4 }}
    # A process may take 20 seconds to stop.
    terminationGracePeriodSeconds: {{ add 35 .preStopSeconds }}
    {{- with .initContainers }}
    initContainers:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    containers:
      {{- include "course-exchange.container" $ | nindent 6 }}
      {{- with .extraContainers }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- include "course-exchange.volumes" $ | nindent 4 }}
{{- end }}
{{- end -}}

{{- define "course-exchange.replicas" -}}
{{- if .values.autoscaling.enabled -}}
{{- include "course-exchange.cluster.replicas" . -}}
{{- else -}}
replicas: {{ int .values.replicas }}
{{- end -}}
{{- end -}}

{{- define "course-exchange.serviceAccount" -}}
{{- if .values.serviceAccount.create -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "course-exchange.serviceAccountName" . }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "course-exchange.labels" (list .root .component) | nindent 4 }}
  {{- include "course-exchange.annotations" .values.serviceAccount.annotations | nindent 2 }}
automountServiceAccountToken: false
{{- end -}}
{{- end -}}

{{/* Selector and port of a Service, of (list context port). */}}
{{- define "course-exchange.serviceSpec" -}}
{{- $context := first . -}}
{{- $port := last . -}}
selector:
  {{- include "course-exchange.selector" (list $context.root $context.component) | nindent 2 }}
ports:
  - name: {{ $port }}
    port: {{ get $context.ports $port }}
    targetPort: {{ $port }}
    protocol: TCP
    appProtocol: {{ eq $port "http" | ternary "http" "grpc" }}
{{- end -}}

{{- define "course-exchange.autoscaler" -}}
{{- with .values.autoscaling }}{{ if .enabled -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  {{- include "course-exchange.metadata" (list $.root $.component) | nindent 2 }}
  {{- if not (include "course-exchange.cluster.replicas" $) }}
  annotations: { course-exchange/replicas: not-in-manifest }
  {{- end }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "course-exchange.name" (list $.root $.component) }}
  minReplicas: {{ int .minReplicas }}
  maxReplicas: {{ int .maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: {{ int .targetCPUUtilizationPercentage }} }
  behavior:
    {{- toYaml .behavior | nindent 4 }}
{{- end }}{{ end }}
{{- end -}}

{{/* None for a single pod: its node could never be drained. */}}
{{- define "course-exchange.disruptionBudget" -}}
{{- with .values.podDisruptionBudget }}{{ if and .enabled (gt (include "course-exchange.leastReplicas" $.values | int) 1) -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "course-exchange.metadata" (list $.root $.component) | nindent 2 }}
spec:
  maxUnavailable: {{ .maxUnavailable }}
  # A pod that is not ready does not keep a node from being drained.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "course-exchange.selector" (list $.root $.component) | nindent 6 }}
{{- end }}{{ end }}
{{- end -}}

{{/* The certificate of a component's gRPC port, which also identifies it as a client of the others; where cert-manager makes it. */}}
{{- define "course-exchange.certificate" -}}
{{- with .root.Values.internalTls }}{{ if and .enabled .certManager.issuerRef -}}
{{- $name := include "course-exchange.name" (list $.root $.component) -}}
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  {{- include "course-exchange.metadata" (list $.root $.component) | nindent 2 }}
spec:
  secretName: {{ get (include "course-exchange.tlsSecrets" $.root | fromYaml) $.component }}
  duration: 2160h
  renewBefore: 720h
  privateKey: { algorithm: ECDSA, size: 256, rotationPolicy: Always }
  usages: [digital signature, server auth, client auth]
  dnsNames:
    - {{ $name }}
    - {{ $name }}.{{ $.root.Release.Namespace }}
    - {{ $name }}.{{ $.root.Release.Namespace }}.svc
    - {{ include "course-exchange.serviceName" (list $.root $.component) }}
  issuerRef:
    {{- toYaml .certManager.issuerRef | nindent 4 }}
{{- end }}{{ end }}
{{- end -}}

{{/* Values of (list root key), as JSON: those of `defaults`, with those under `key` over them. */}}
{{- define "course-exchange.values" -}}
{{- $root := first . -}}
{{- include "course-exchange.merged" (list $root.Values.defaults (get $root.Values (last .) | default dict)) -}}
{{- end -}}

{{/* Of (list below above), as JSON: maps are merged, everything else of `above` replaces that of `below`. Sprig's own merge
     would keep `true` where `above` says `false`, and 3 where it says 0. */}}
{{- define "course-exchange.merged" -}}
{{- $merged := deepCopy (first .) -}}
{{- range $key, $value := last . -}}
{{- $under := get $merged $key -}}
{{- if and (kindIs "map" $value) (kindIs "map" $under) -}}
{{- $value = include "course-exchange.merged" (list $under $value) | fromJson -}}
{{- end -}}
{{- $_ := set $merged $key $value -}}
{{- end -}}
{{- toJson $merged -}}
{{- end -}}

{{/* Fewest pods that a component's values promise. */}}
{{- define "course-exchange.leastReplicas" -}}
{{- dig "autoscaling" "enabled" false . | ternary (dig "autoscaling" "minReplicas" 1 .) (get . "replicas") | int -}}
{{- end -}}
