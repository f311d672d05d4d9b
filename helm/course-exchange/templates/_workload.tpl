{{/* What the components with a Deployment share. gateway.yaml, identity.yaml, design-catalog.yaml and demo-partner.yaml use these
     templates, each with its context: a dict that begins with `root`, `component` and `key`, the key of its values. */}}

{{/* Ports by component, as YAML. `http` or `grpc` serves requests, `health` probes and metrics. The others are private: no route of
     the gateway leads there, and each listens on the pod's loopback address until a Secret with certificates opens it. */}}
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

{{/* A component's objects except its Services. A component that is not `replicated` has one pod: a new pod starts after the old one
     ended. */}}
{{- define "course-exchange.workload" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "course-exchange.metadata" (list .root .component) | nindent 2 }}
  {{- include "course-exchange.annotations" .values.deploymentAnnotations | nindent 2 }}
{{- with .values }}
spec:
  {{- if not $.replicated }}
  replicas: 1
  strategy: { type: Recreate }
  {{- else }}
  {{ .autoscaling.enabled | ternary (include "course-exchange.cluster.replicas" $) (printf "replicas: %d" (int .replicas)) }}
  minReadySeconds: 5
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  {{- end }}
  revisionHistoryLimit: 5
  selector:
    matchLabels:
      {{- include "course-exchange.selector" (list $.root $.component) | nindent 6 }}
  template:
    metadata:
      {{- include "course-exchange.podMetadata" $ | nindent 6 }}
    spec:
      {{- include "course-exchange.podSpec" $ | nindent 6 }}
      # A process may take 20 seconds to stop.
      terminationGracePeriodSeconds: {{ add 35 .preStopSeconds }}
      {{- with .initContainers }}
      initContainers:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        {{- include "course-exchange.container" $ | nindent 8 }}
        {{- with .extraContainers }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- include "course-exchange.volumes" $ | nindent 6 }}
{{- end }}
---
{{ include "course-exchange.serviceAccount" . }}
{{- if .replicated }}
---
{{ include "course-exchange.autoscaler" . }}
---
{{ include "course-exchange.disruptionBudget" . }}
---
{{ include "course-exchange.certificate" . }}
{{- end }}
{{- end -}}

{{- define "course-exchange.serviceAccount" -}}
{{- if .values.serviceAccount.create -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "course-exchange.labelledMetadata" (list .root .component (include "course-exchange.serviceAccountName" .) dict) | nindent 2 }}
  {{- include "course-exchange.annotations" .values.serviceAccount.annotations | nindent 2 }}
automountServiceAccountToken: false
{{- end -}}
{{- end -}}

{{/* A Service, of a dict: context, name, port, and optional annotations, type and further fields. */}}
{{- define "course-exchange.service" -}}
{{- $component := list .context.root .context.component -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "course-exchange.metadata" (append $component .name) | nindent 2 }}
  {{- include "course-exchange.annotations" .annotations | nindent 2 }}
spec:
  type: {{ default "ClusterIP" .type }}
  {{- if eq .port "grpc" }}
  # Headless: a gRPC client sees every pod and spreads its calls.
  clusterIP: None
  {{- end }}
  {{- with .fields }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  selector:
    {{- include "course-exchange.selector" $component | nindent 4 }}
  ports:
    - name: {{ .port }}
      port: {{ get .context.ports .port }}
      targetPort: {{ .port }}
      protocol: TCP
      appProtocol: {{ eq .port "http" | ternary "http" "grpc" }}
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
    {{- with .metrics }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  behavior:
    {{- toYaml .behavior | nindent 4 }}
{{- end }}{{ end }}
{{- end -}}

{{/* A single pod has none: its node could never be drained. */}}
{{- define "course-exchange.disruptionBudget" -}}
{{- with .values.podDisruptionBudget }}{{ if and .enabled (gt (include "course-exchange.leastReplicas" $.values | int) 1) -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "course-exchange.metadata" (list $.root $.component) | nindent 2 }}
spec:
  {{ hasKey . "minAvailable" | ternary (pick . "minAvailable") (pick . "maxUnavailable") | toYaml }}
  # A pod that is not ready does not keep a node from being drained.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "course-exchange.selector" (list $.root $.component) | nindent 6 }}
{{- end }}{{ end }}
{{- end -}}

{{/* By cert-manager: the certificate of a component's gRPC port, which also identifies the component as a client. */}}
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

{{/* Takes (list below above), returns JSON: maps are merged, and everything else in `above` replaces what `below` has. Sprig's merge would
     ignore `false` and 0 in `above`. */}}
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
