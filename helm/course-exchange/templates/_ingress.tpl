{{/* Ingresses, and the controllers' annotations. */}}

{{/* Routes to the Service with the Ingress' name, of a dict: root, component, name, origin, `secret` with the certificate, annotations, path
     and pathType. */}}
{{- define "course-exchange.ingress" -}}
{{- $values := .root.Values.ingress }}
{{- $host := include "course-exchange.host" .origin }}
apiVersion: networking.k8s.io/v1
kind: Ingress
{{ include "course-exchange.metadata" . }}
spec:
  {{- with $values.className }}
  ingressClassName: {{ . }}
  {{- end }}
  {{- if and (hasPrefix "https:" .origin) (or .secret (not $values.tls.terminatedElsewhere)) }}
  tls: [{ hosts: [{{ $host }}]{{ with .secret }}, secretName: {{ . }}{{ end }} }]
  {{- end }}
  rules:
    - host: {{ $host }}
      http:
        paths:
          - path: {{ .path }}
            pathType: {{ .pathType }}
            backend: { service: { name: {{ include "course-exchange.name" (list .root (default .component .name)) }}, port: { name: http } } }
{{- end -}}

{{/* Routes to a component by the Gateway API, of a dict: root, component, origin, and rules, each with path and optional
     backendRequest. */}}
{{- define "course-exchange.httpRoute" -}}
{{- $backend := dict "name" (include "course-exchange.name" (list .root .component)) "port" (get (include "course-exchange.ports" .root | fromYaml) .component).http }}
{{- with .root.Values.httpRoute }}
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
{{ include "course-exchange.metadata" (merge (dict "annotations" .annotations) $) }}
spec:
  parentRefs: {{ toJson .parentRefs }}
  hostnames: [{{ include "course-exchange.host" $.origin }}]
  rules:
    {{- $route := . }}
    {{- range $.rules }}
    - matches: [{ path: {{ toJson .path }} }]
      {{- with $route.filters }}
      filters: {{ toJson . }}
      {{- end }}
      {{- if $route.requestTimeout }}
      timeouts: {{ merge (dict "request" $route.requestTimeout) (pick . "backendRequest") | toJson }}
      {{- end }}
      backendRefs: [{{ toJson $backend }}]
    {{- end }}
{{- end }}
{{- end -}}

{{/* The controller whose annotations the Ingress gets: nginx, traefik or none. */}}
{{- define "course-exchange.ingress.controller" -}}
{{- $named := .Values.ingress.controller -}}
{{- eq $named "auto" | ternary (contains "nginx" .Values.ingress.className | ternary "nginx" "none") $named -}}
{{- end -}}

{{/* Routes to the gateway by the name of Ingress and Service, with the seconds in which an answer must begin. Every path is routed: the
     gateway answers 404 for an unknown one. A login may take 10 seconds (R14.5). */}}
{{- define "course-exchange.ingress.routes" -}}
{{- if .Values.ingress.enabled -}}
gateway: { path: /, pathType: Prefix, seconds: 3 }
{{- if ne (include "course-exchange.ingress.controller" .) "none" }}
gateway-login: { path: /login, pathType: Exact, seconds: 15 }
{{- end }}
{{- end -}}
{{- end -}}

{{/* No redirect, room for long answers, and limits of size and time, of (list root seconds). */}}
{{- define "course-exchange.ingress.annotations" -}}
{{- $root := first . -}}
{{- $controller := include "course-exchange.ingress.controller" $root -}}
# ingress-nginx redirects http by default (R28.5), and so does Traefik if it serves a class of ingress-nginx.
nginx.ingress.kubernetes.io/ssl-redirect: "false"
nginx.ingress.kubernetes.io/force-ssl-redirect: "false"
# A redirect with the longest state (R3.6) takes 7 KiB; the default of ingress-nginx and F5 NGINX is 4 KiB.
nginx.ingress.kubernetes.io/proxy-buffer-size: 16k
nginx.org/proxy-buffer-size: 16k
nginx.org/proxy-buffers: 4 16k
{{- with $root.Values.ingress }}
{{- if eq $controller "nginx" }}
nginx.ingress.kubernetes.io/proxy-body-size: 64k
nginx.ingress.kubernetes.io/proxy-connect-timeout: "1"
# Between two reads or two writes.
nginx.ingress.kubernetes.io/proxy-read-timeout: {{ last $ | quote }}
nginx.ingress.kubernetes.io/proxy-send-timeout: {{ last $ | quote }}
# A request without an answer goes to another pod, but never a POST that a pod has received.
nginx.ingress.kubernetes.io/proxy-next-upstream: error timeout
nginx.ingress.kubernetes.io/proxy-next-upstream-tries: "4"
{{- with int .connectionsPerAddress }}
nginx.ingress.kubernetes.io/limit-connections: {{ quote . }}
{{- end }}
{{- else if eq $controller "traefik" }}
{{- $middlewares := list (include "course-exchange.traefik.name" (list $root "retry")) }}
{{- if .connectionsPerAddress }}
{{- $middlewares = append $middlewares (include "course-exchange.traefik.name" (list $root "connections")) }}
{{- end }}
traefik.ingress.kubernetes.io/router.middlewares: {{ join "," $middlewares }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The name of an object in Traefik's annotations, of (list root name). */}}
{{- define "course-exchange.traefik.name" -}}
{{- (first .).Release.Namespace }}-{{ include "course-exchange.name" . }}@kubernetescrd
{{- end -}}

{{/* Annotations of a Service of the gateway, from which Traefik reads time limits; otherwise empty. Takes (list root service). */}}
{{- define "course-exchange.ingress.serviceAnnotations" -}}
{{- $root := first . -}}
{{- if and $root.Values.ingress.enabled (eq (include "course-exchange.ingress.controller" $root) "traefik") -}}
traefik.ingress.kubernetes.io/service.serverstransport: {{ include "course-exchange.traefik.name" . }}
{{- end -}}
{{- end -}}
