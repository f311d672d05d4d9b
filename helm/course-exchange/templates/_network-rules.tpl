{{/* The rules of each component's NetworkPolicy. */}}

{{/* By component, as YAML. A component without ingress rules accepts no connection. */}}
{{- define "course-exchange.network.rules" -}}
{{- $policy := .Values.networkPolicy -}}
{{- $ports := include "course-exchange.ports" . | fromYaml -}}
{{- $catalogPorts := get $ports "design-catalog" -}}
{{- $dns := include "course-exchange.network.dns" . | fromYamlArray -}}
{{- $telemetry := include "course-exchange.network.telemetry" . | fromYamlArray -}}
{{- $postgres := include "course-exchange.network.to" (list $policy.postgresTo (list .Values.postgres.port)) | fromYamlArray -}}
{{- $redis := include "course-exchange.network.redis" . | fromYamlArray -}}
{{- $issuer := include "course-exchange.network.issuer" . | fromYamlArray -}}
{{- $tested := eq (include "course-exchange.contract-tests.wanted" .) "true" -}}
{{- $pods := dict -}}
{{- range list "gateway" "identity" "design-catalog" "key-rotation" "audit-export" "contract-tests" -}}
{{- $_ := set $pods . (list (dict "podSelector" (dict "matchLabels" (include "course-exchange.selector" (list $ .) | fromYaml)))) -}}
{{- end -}}
{{- $jobs := include "course-exchange.operatorJobs" . | fromYaml -}}
{{- $toIdentity := include "course-exchange.network.to" (list $pods.identity (list $ports.identity.grpc)) | fromYamlArray -}}
{{- $toCatalog := include "course-exchange.network.to" (list (get $pods "design-catalog") (list $catalogPorts.grpc)) | fromYamlArray -}}
{{- $controller := include "course-exchange.network.controller" . | fromYamlArray -}}
gateway:
  ingress:
    {{- include "course-exchange.network.from" (list (concat $policy.gatewayFrom ($tested | ternary (get $pods "contract-tests") list) $controller) $ports.gateway.http) | nindent 4 }}
    {{- include "course-exchange.network.from" (list $policy.monitoring $ports.gateway.health) | nindent 4 }}
  egress: {{ concat $dns $toIdentity $toCatalog $telemetry | toJson }}
identity:
  ingress:
    {{- include "course-exchange.network.from" (list (concat $pods.gateway (get $pods "design-catalog")) $ports.identity.grpc) | nindent 4 }}
    {{- if and .Values.identity.operator.enabled .Values.identity.operator.tlsSecret }}
    {{- $operators := $policy.operatorFrom }}
    {{- range keys $jobs | sortAlpha }}{{ $operators = concat $operators (get $pods .) }}{{ end }}
    {{- include "course-exchange.network.from" (list $operators $ports.identity.operator) | nindent 4 }}
    {{- end }}
    {{- include "course-exchange.network.from" (list $policy.monitoring $ports.identity.health) | nindent 4 }}
  egress: {{ concat $dns $postgres $redis $telemetry | toJson }}
design-catalog:
  ingress:
    {{- include "course-exchange.network.from" (list $pods.gateway $catalogPorts.grpc) | nindent 4 }}
    {{- with .Values.designCatalog.feed }}
    {{- if and .enabled .tlsSecret }}
    {{- include "course-exchange.network.from" (list $policy.feedFrom $catalogPorts.feed) | nindent 4 }}
    {{- end }}
    {{- end }}
    {{- include "course-exchange.network.from" (list $policy.monitoring $catalogPorts.health) | nindent 4 }}
  egress: {{ concat $dns $toIdentity $postgres $telemetry | toJson }}
{{- if .Values.demoPartner.enabled }}
{{- $own := get $ports "demo-partner" }}
demo-partner:
  ingress:
    {{- include "course-exchange.network.from" (list $controller $own.http) | nindent 4 }}
    {{- include "course-exchange.network.from" (list $policy.monitoring $own.health) | nindent 4 }}
  egress: {{ concat $dns $issuer | toJson }}
{{- end }}
migrations:
  egress: {{ concat $dns $postgres $redis $telemetry | toJson }}
{{- range $job, $_ := $jobs }}
{{ $job }}:
  egress: {{ concat $dns (include "course-exchange.network.to" (list $pods.identity (list $ports.identity.operator)) | fromYamlArray) | toJson }}
{{- end }}
{{- if $tested }}
contract-tests:
  egress: {{ concat $dns (include "course-exchange.network.to" (list $pods.gateway (list $ports.gateway.http)) | fromYamlArray) $issuer | toJson }}
{{- end }}
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

{{/* An ingress rule; takes (list peers port). There is no rule without peers, because an empty `from` admits every address. The kubelet's
     probes need no rule: they come from the node. */}}
{{- define "course-exchange.network.from" -}}
{{- with first . -}}
- ports: [{ protocol: TCP, port: {{ int (last $) }} }]
  from:
    {{- toYaml . | nindent 4 }}
{{- end -}}
{{- end -}}

{{/* An egress rule; takes (list peers ports). It allows every address if there are no peers. */}}
{{- define "course-exchange.network.to" -}}
- ports:
    {{- range last . }}
    - { protocol: TCP, port: {{ int . }} }
    {{- end }}
  {{- with first . }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "course-exchange.network.dns" -}}
- ports:
    {{- range .Values.networkPolicy.dnsPorts }}
    - { protocol: UDP, port: {{ int . }} }
    - { protocol: TCP, port: {{ int . }} }
    {{- end }}
  {{- with .Values.networkPolicy.dnsTo }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The ports of redis.hosts, and those of the servers that Sentinels or a Cluster name. */}}
{{- define "course-exchange.network.redis" -}}
{{- $redis := .Values.redis -}}
{{- $sentinel := eq $redis.mode "sentinel" -}}
{{- $ports := list -}}
{{- range $redis.hosts -}}
{{- $ports = append $ports (regexFind ":[0-9]+$" . | trimPrefix ":" | default ($sentinel | ternary "26379" "6379") | int) -}}
{{- end -}}
{{- range eq $redis.mode "standalone" | ternary list $redis.serverPorts -}}{{- $ports = append $ports (int .) -}}{{- end -}}
{{- include "course-exchange.network.to" (list .Values.networkPolicy.redisTo (uniq $ports)) -}}
{{- end -}}

{{- define "course-exchange.network.telemetry" -}}
{{- with .Values.telemetry.endpoint -}}
{{- include "course-exchange.network.to" (list $.Values.networkPolicy.telemetryTo (list (include "course-exchange.port" .))) -}}
{{- end -}}
{{- end -}}

{{- define "course-exchange.network.issuer" -}}
{{- $policy := .Values.networkPolicy -}}
{{- $ports := default (list (include "course-exchange.port" .Values.issuer)) $policy.issuerPorts -}}
{{- include "course-exchange.network.to" (list $policy.issuerTo $ports) -}}
{{- end -}}

{{/* The peers of networkPolicy.ingressController, as YAML. */}}
{{- define "course-exchange.network.controller" -}}
{{- $peers := list -}}
{{- with .Values.networkPolicy.ingressController -}}
{{- $pod := dict -}}
{{- range $key, $selector := pick . "namespaceSelector" "podSelector" -}}
{{- if $selector }}{{ $_ := set $pod $key $selector }}{{ end -}}
{{- end -}}
{{- with $pod }}{{ $peers = append $peers . }}{{ end -}}
{{- range .ipBlocks }}{{ $peers = append $peers (dict "ipBlock" (dict "cidr" .)) }}{{ end -}}
{{- end -}}
{{- toYaml $peers -}}
{{- end -}}
