{{/* The rules of each component's NetworkPolicy. */}}

{{/* By component, as YAML: of a component that exists, who may call its ports, and whom it may call. A component without ingress rules accepts
     no connection. */}}
{{- define "course-exchange.network.rules" -}}
{{- $policy := .Values.networkPolicy -}}
{{- $ports := include "course-exchange.ports" . | fromYaml -}}
{{- $catalogPorts := get $ports "design-catalog" -}}
{{- $pods := dict -}}
{{- range list "gateway" "identity" "design-catalog" "key-rotation" "audit-export" "contract-tests" -}}
{{- $_ := set $pods . (list (dict "podSelector" (include "course-exchange.labelSelector" (list $ .) | fromJson))) -}}
{{- end -}}
{{- $to := dict -}}
{{- range $name, $rule := dict
  "postgres" (list $policy.postgresTo (list .Values.postgres.port))
  "redis" (list $policy.redisTo (include "course-exchange.network.redisPorts" .Values.redis | fromYamlArray))
  "issuer" (list list (default (list (include "course-exchange.port" .Values.issuer)) $policy.issuerPorts))
  "gateway" (list $pods.gateway (list $ports.gateway.http))
  "identity" (list $pods.identity (list $ports.identity.grpc))
  "operator" (list $pods.identity (list $ports.identity.operator))
  "catalog" (list (get $pods "design-catalog") (list $catalogPorts.grpc))
-}}
{{- $_ := set $to $name (include "course-exchange.network.to" $rule | fromYamlArray) -}}
{{- end -}}
{{- $dns := include "course-exchange.network.to" (list $policy.dnsTo $policy.dnsPorts (list "UDP" "TCP")) | fromYamlArray -}}
{{- $base := $dns -}}
{{- with .Values.telemetry.endpoint -}}
{{- $base = include "course-exchange.network.to" (list $policy.telemetryTo (list (include "course-exchange.port" .))) | fromYamlArray | concat $dns -}}
{{- end -}}
{{- $tested := eq (include "course-exchange.contract-tests.wanted" .) "true" -}}
{{- $jobs := include "course-exchange.operatorJobs" . | fromYaml -}}
{{- $operators := $policy.operatorFrom -}}
{{- range keys $jobs | sortAlpha }}{{ $operators = concat $operators (get $pods .) }}{{ end -}}
{{- $public := $policy.ingressControllerFrom -}}
{{- $inward := dict
  "gateway" (dict "http" ($tested | ternary (concat $public (get $pods "contract-tests")) $public))
  "identity" (dict "grpc" (concat $pods.gateway (get $pods "design-catalog")) "operator" $operators)
  "design-catalog" (dict "grpc" $pods.gateway "feed" $policy.feedFrom)
  "demo-partner" (dict "http" $public)
-}}
{{- $outward := dict
  "gateway" (concat $base $to.identity $to.catalog)
  "identity" (concat $base $to.postgres $to.redis)
  "design-catalog" (concat $base $to.identity $to.postgres)
  "migrations" (concat $base $to.postgres $to.redis)
-}}
{{- if .Values.demoPartner.enabled }}{{ $_ := set $outward "demo-partner" (concat $dns $to.issuer) }}{{ end -}}
{{- if $tested }}{{ $_ := set $outward "contract-tests" (concat $dns $to.gateway $to.issuer) }}{{ end -}}
{{- range $job, $_ := $jobs }}{{ $_ := set $outward $job (concat $dns $to.operator) }}{{ end -}}
{{- range $component, $egress := $outward }}
{{ $component }}:
  ingress:
    {{- range $name, $port := get $ports $component | default dict }}
    {{- with get (get $inward $component) $name | default (eq $name "health" | ternary $policy.monitoring list) }}
    {{- /* There is no rule without peers, because an empty `from` admits every address. The kubelet's probes need no rule: they come from
           the node. */}}
    - { ports: [{ protocol: TCP, port: {{ int $port }} }], from: {{ toJson . }} }
    {{- end }}
    {{- end }}
  egress: {{ toJson $egress }}
{{- end }}
{{- end -}}

{{/* An egress rule, as YAML; takes (list peers ports protocols). It allows every address if there are no peers. */}}
{{- define "course-exchange.network.to" -}}
- ports:
    {{- range $port := index . 1 }}{{ range gt (len $) 2 | ternary (last $) (list "TCP") }}
    - { protocol: {{ . }}, port: {{ int $port }} }
    {{- end }}{{ end }}
  {{- with first . }}
  to: {{ toJson . }}
  {{- end }}
{{- end -}}

{{/* The ports of redis.hosts, and those of the servers that Sentinels or a Cluster name, of `redis`. */}}
{{- define "course-exchange.network.redisPorts" -}}
{{- $ports := list -}}
{{- range .hosts -}}
{{- $ports = append $ports (regexFind ":[0-9]+$" . | trimPrefix ":" | default (eq $.mode "sentinel" | ternary "26379" "6379") | int) -}}
{{- end -}}
{{- range eq .mode "standalone" | ternary list .serverPorts }}{{ $ports = append $ports (int .) }}{{ end -}}
{{- uniq $ports | toJson -}}
{{- end -}}

{{/* The values, a line each, whose peers are any address. */}}
{{- define "course-exchange.network.open" -}}
{{- range $name := list "dnsTo" "postgresTo" "redisTo" "telemetryTo" }}
{{- $peers := get $.Values.networkPolicy $name }}
{{- $isOpen := empty $peers }}
{{- range $peers }}{{ if hasSuffix "/0" (dig "ipBlock" "cidr" "" .) }}{{ $isOpen = true }}{{ end }}{{ end }}
{{- if and $isOpen (or (ne $name "telemetryTo") $.Values.telemetry.endpoint) }}
  networkPolicy.{{ $name }}
{{- end }}
{{- end }}
{{- end -}}
