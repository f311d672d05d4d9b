{{/* The Deployments of the release as data: workloads.yaml and certificates.yaml range over this. */}}

{{/* Ports by component, as YAML. `http` or `grpc` is the component's own, `health` serves probes and metrics. The others are
     private: no route of the gateway leads there, and each listens on the pod's loopback address, for `kubectl exec`, until a
     Secret with certificates opens it to the network. */}}
{{- define "course-exchange.ports" -}}
gateway: { http: 8080, health: 8081 }
identity: { grpc: 7001, health: 7101, operator: 7201 }
design-catalog: { grpc: 7002, health: 7102, feed: 7301 }
demo-partner: { http: 9000, health: 9001 }
{{- end -}}

{{/* By component, as YAML: `values`, those of `defaults` with the component's own over them; `ports` that other pods reach;
     `certificates`, Secrets mounted whole; `replicated`, whether it scales; `scratch`, folders that end with the pod. */}}
{{- define "course-exchange.workloads" -}}
{{- $ports := include "course-exchange.ports" . | fromYaml -}}
{{- range $component, $key := dict "gateway" "gateway" "identity" "identity" "design-catalog" "designCatalog" }}
{{- $values := include "course-exchange.values" (list $ $key) | fromJson }}
{{- $open := get $ports $component }}
{{- range $private, $of := dict "operator" $values.operator "feed" $values.feed }}
{{- if not (and $of $of.enabled $of.tlsSecret) }}{{ $open = omit $open $private }}{{ end }}
{{- end }}
{{ $component }}:
  values: {{ toJson $values }}
  ports: {{ toJson $open }}
  replicated: true
  {{- if $.Values.internalTls.enabled }}
  certificates: { tls: {{ default (printf "%s-tls" (include "course-exchange.name" (list $ $component))) (get $.Values.internalTls.secretNames $key) }} }
  {{- end }}
{{- end }}
{{- if .Values.demoPartner.enabled }}
{{- $values := include "course-exchange.values" (list . "demoPartner") | fromJson }}
demo-partner:
  values: {{ toJson $values }}
  ports: {{ get $ports "demo-partner" | toJson }}
  # Its sessions live in a file of its own: one pod, and a new one starts only when the old one is gone.
  replicated: false
  scratch: { data: { path: /data, sizeLimit: {{ $values.dataSizeLimit }} } }
{{- end }}
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
