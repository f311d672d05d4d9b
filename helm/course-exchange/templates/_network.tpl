{{/* Parts of NetworkPolicies: who may speak to whom. */}}

{{/* An egress rule, of (list peers ports): peers are NetworkPolicyPeers, none means any address. */}}
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

{{/* Pods of this release, of (list root component), as a list of one NetworkPolicyPeer. */}}
{{- define "course-exchange.network.pods" -}}
- podSelector:
    matchLabels:
      {{- include "course-exchange.selector" . | nindent 6 }}
{{- end -}}

{{- define "course-exchange.network.dns" -}}
- ports:
    {{- range default (list 53) .Values.networkPolicy.dnsPorts }}
    - { protocol: UDP, port: {{ int . }} }
    - { protocol: TCP, port: {{ int . }} }
    {{- end }}
  {{- with .Values.networkPolicy.dnsTo }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "course-exchange.network.postgres" -}}
{{- include "course-exchange.network.to" (list .Values.networkPolicy.postgresTo (list .Values.postgres.port)) -}}
{{- end -}}

{{/* The ports of redis.hosts; behind Sentinels also the port of the servers that they name. */}}
{{- define "course-exchange.network.redis" -}}
{{- $ports := list -}}
{{- $usual := eq .Values.redis.mode "sentinel" | ternary "26379" "6379" -}}
{{- range .Values.redis.hosts -}}
{{- $ports = append $ports (regexFind ":[0-9]+$" . | trimPrefix ":" | default $usual | int) -}}
{{- end -}}
{{- if eq .Values.redis.mode "sentinel" -}}{{- $ports = append $ports (int .Values.redis.sentinel.serverPort) -}}{{- end -}}
{{- include "course-exchange.network.to" (list .Values.networkPolicy.redisTo (uniq $ports)) -}}
{{- end -}}

{{- define "course-exchange.network.telemetry" -}}
{{- with (.Values.telemetry).endpoint -}}
{{- include "course-exchange.network.to" (list $.Values.networkPolicy.telemetryTo (list (include "course-exchange.port" .))) -}}
{{- end -}}
{{- end -}}

{{- define "course-exchange.network.issuer" -}}
{{- $policy := .Values.networkPolicy -}}
{{- $ports := default (list (include "course-exchange.port" .Values.issuer)) $policy.issuerPorts -}}
{{- include "course-exchange.network.to" (list $policy.issuerTo $ports) -}}
{{- end -}}

{{/* An ingress rule for the ingress controller, of (list root port further): `further` are more peers. */}}
{{- define "course-exchange.network.fromController" -}}
{{- $controller := (first .).Values.networkPolicy.ingressController -}}
{{- $peers := last . -}}
{{- $pods := pick $controller "namespaceSelector" "podSelector" -}}
{{- range $key, $selector := $pods }}{{ if not $selector }}{{ $pods = omit $pods $key }}{{ end }}{{ end -}}
{{- with $pods }}{{ $peers = append $peers . }}{{ end -}}
{{- range $controller.ipBlocks }}{{ $peers = append $peers (dict "ipBlock" (dict "cidr" .)) }}{{ end -}}
{{- include "course-exchange.network.from" (list $peers (index . 1)) -}}
{{- end -}}

{{/* An ingress rule, of (list peers port). No peers, no rule: an empty `from` would let everybody in. */}}
{{- define "course-exchange.network.from" -}}
{{- with first . -}}
- ports:
    - { protocol: TCP, port: {{ int (last $) }} }
  from:
    {{- toYaml . | nindent 4 }}
{{- end -}}
{{- end -}}

{{/* Who reads metrics, of (list root healthPort). The kubelet's probes come from the node, which no policy keeps out. */}}
{{- define "course-exchange.network.monitoring" -}}
{{- include "course-exchange.network.from" (list (first .).Values.networkPolicy.monitoring (last .)) -}}
{{- end -}}

{{/* Selector and rules of a component's policy, of (dict root component ingress egress): lists of rules as text. */}}
{{- define "course-exchange.network.spec" -}}
podSelector:
  matchLabels:
    {{- include "course-exchange.selector" (list .root .component) | nindent 4 }}
policyTypes: [Ingress, Egress]
{{ include "course-exchange.items" (list "ingress" .ingress) }}
{{ include "course-exchange.items" (list "egress" .egress) }}
{{- end -}}
