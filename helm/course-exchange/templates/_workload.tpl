{{/* What the components with a Deployment share, each with its context, a dict: `root`, `component`, `key` (the key of its values) and
     `replicated`. */}}

{{/* Ports by component that other pods reach, as YAML. `http` or `grpc` serves requests, `health` probes and metrics. The others are
     private: no route of the gateway leads there, and each listens on the pod's loopback address until a Secret with certificates opens
     it. */}}
{{- define "course-exchange.ports" -}}
gateway: { http: 8080, health: 8081 }
identity: { grpc: 7001, health: 7101{{ if .Values.identity.operator.tlsSecret }}, operator: 7201{{ end }} }
design-catalog: { grpc: 7002, health: 7102{{ if .Values.designCatalog.feed.tlsSecret }}, feed: 7301{{ end }} }
demo-partner: { http: 9000, health: 9001 }
{{- end -}}

{{/* Adds to a context: `values`, `ports`, `certificates` (Secrets mounted whole), `program`, `env`, `files`. */}}
{{- define "course-exchange.context" -}}
{{- $_ := set . "values" (include "course-exchange.values" (list .root .key) | fromJson) -}}
{{- $_ := set . "ports" (get (include "course-exchange.ports" .root | fromYaml) .component) -}}
{{- if and .replicated .root.Values.internalTls.enabled -}}
{{- $_ := set . "certificates" (dict "tls" (include "course-exchange.tlsSecret" .)) -}}
{{- end -}}
{{- $_ := set . "program" (printf "/app/services/%s/src/main.js" .component) -}}
{{- $_ := set . "env" (include "course-exchange.programEnv" (list . .component)) -}}
{{- $_ := set . "files" (include "course-exchange.files" (list .root .component)) -}}
{{- end -}}

{{/* The Secret with a service's certificate, of a dict: root and component. */}}
{{- define "course-exchange.tlsSecret" -}}
{{- include "course-exchange.name" (list .root .component) }}-tls
{{- end -}}

{{/* A component's objects except its Services. A component that is not `replicated` has one pod: a new pod starts after the old one
     ended. */}}
{{- define "course-exchange.workload" -}}
apiVersion: apps/v1
kind: Deployment
{{ include "course-exchange.metadata" . }}
spec:
  {{- if not .replicated }}
  replicas: 1
  strategy: { type: Recreate }
  {{- else }}
  {{ .values.autoscaling.enabled | ternary (include "course-exchange.cluster.replicas" .) (printf "replicas: %d" (int .values.replicas)) }}
  minReadySeconds: 5
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  {{- end }}
  revisionHistoryLimit: 5
  selector: {{ include "course-exchange.labelSelector" (list .root .component) }}
  {{- include "course-exchange.podTemplate" . | nindent 2 }}
{{- $object := omit . "annotations" }}
{{- if not .values.existingServiceAccount }}
---
apiVersion: v1
kind: ServiceAccount
{{ include "course-exchange.metadata" $object }}
automountServiceAccountToken: false
{{- end }}
{{- if .replicated }}
{{- with .values.autoscaling }}{{ if .enabled }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
{{ empty (include "course-exchange.cluster.replicas" $) | ternary (dict "course-exchange/replicas" "not-in-manifest") dict | dict "root" $.root "component" $.component "annotations" | include "course-exchange.metadata" }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ include "course-exchange.name" (list $.root $.component) }} }
  minReplicas: {{ int .minReplicas }}
  maxReplicas: {{ int .maxReplicas }}
  metrics:
    {{- toYaml .metrics | nindent 4 }}
  # Up at once, at most twofold in 15 seconds; down by one pod a minute, after five quiet minutes.
  behavior:
    scaleUp: { stabilizationWindowSeconds: 0, policies: [{ type: Percent, value: 100, periodSeconds: 15 }] }
    scaleDown: { stabilizationWindowSeconds: 300, policies: [{ type: Pods, value: 1, periodSeconds: 60 }] }
{{- end }}{{ end }}
{{- with .values.podDisruptionBudget }}{{ if and .enabled (gt (include "course-exchange.leastReplicas" $.values | int) 1) }}
---
# A single pod has none: its node could never be drained.
apiVersion: policy/v1
kind: PodDisruptionBudget
{{ include "course-exchange.metadata" $object }}
spec:
  {{ hasKey . "minAvailable" | ternary (pick . "minAvailable") (pick . "maxUnavailable") | toYaml }}
  # A pod that is not ready does not keep a node from being drained.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector: {{ include "course-exchange.labelSelector" (list $.root $.component) }}
{{- end }}{{ end }}
{{- with .root.Values.internalTls }}{{ if and .enabled .certManager.issuerRef }}
{{- $name := include "course-exchange.name" (list $.root $.component) }}
{{- $inNamespace := printf "%s.%s" $name $.root.Release.Namespace }}
---
# The certificate of a component's gRPC port, which also identifies the component as a client.
apiVersion: cert-manager.io/v1
kind: Certificate
{{ include "course-exchange.metadata" $object }}
spec:
  secretName: {{ include "course-exchange.tlsSecret" $ }}
  duration: 2160h
  renewBefore: 720h
  privateKey: { algorithm: ECDSA, size: 256, rotationPolicy: Always }
  usages: [digital signature, server auth, client auth]
  dnsNames: [{{ $name }}, {{ $inNamespace }}, {{ $inNamespace }}.svc, {{ include "course-exchange.serviceName" (list $.root $.component) }}]
  issuerRef: {{ toJson .certManager.issuerRef }}
{{- end }}{{ end }}
{{- end }}
{{- end -}}

{{/* A Service, of a component's context with `port`, and optional name, annotations, type and further fields. */}}
{{- define "course-exchange.service" -}}
apiVersion: v1
kind: Service
{{ include "course-exchange.metadata" . }}
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
    {{- include "course-exchange.selector" (list .root .component) | nindent 4 }}
  ports:
    - name: {{ .port }}
      port: {{ get .ports .port }}
      targetPort: {{ .port }}
      protocol: TCP
      appProtocol: {{ eq .port "http" | ternary "http" "grpc" }}
{{- end -}}

{{/* Values of (list root key), as JSON: those of `defaults`, with those under `key` over them. */}}
{{- define "course-exchange.values" -}}
{{- $defaults := (first .).Values.defaults -}}
{{- $own := get (first .).Values (last .) | default dict -}}
{{- $merged := include "course-exchange.merged" (list $defaults $own) | fromJson -}}
{{- $names := list -}}{{- range $own.extraEnv }}{{ $names = append $names .name }}{{ end -}}
{{- $env := list -}}{{- range $defaults.extraEnv }}{{ if not (has .name $names) }}{{ $env = append $env . }}{{ end }}{{ end -}}
{{- if $own.extraEnv }}{{ $_ := set $merged "extraEnv" (concat $env $own.extraEnv) }}{{ end -}}
{{- toJson $merged -}}
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
