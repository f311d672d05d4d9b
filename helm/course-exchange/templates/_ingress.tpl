{{/* Ingresses, and what a controller is told about the gateway. */}}

{{/* Leads to the Service that has the Ingress' name, of a dict: root, component, name, values, origin, annotations, path and pathType.
     Class and TLS are those of `ingress`. */}}
{{- define "course-exchange.ingress" -}}
{{- $root := .root }}
{{- $host := include "course-exchange.host" .origin }}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  {{- include "course-exchange.metadata" (list $root .component .name) | nindent 2 }}
  {{- include "course-exchange.annotations" .annotations | nindent 2 }}
spec:
  {{- with $root.Values.ingress.className }}
  ingressClassName: {{ . }}
  {{- end }}
  {{- if $root.Values.ingress.tls.enabled }}
  tls:
    - hosts: [{{ $host }}]
      {{- with .values.tls.existingSecret }}
      secretName: {{ . }}
      {{- end }}
  {{- end }}
  rules:
    - host: {{ $host }}
      http:
        paths:
          - path: {{ .path }}
            pathType: {{ .pathType }}
            backend:
              service:
                name: {{ include "course-exchange.name" (list $root .name) }}
                port: { name: http }
{{- end -}}

{{/* Whose annotations the Ingress gets: nginx, traefik or none. */}}
{{- define "course-exchange.ingress.controller" -}}
{{- $named := .Values.ingress.controller -}}
{{- eq $named "auto" | ternary (contains "nginx" .Values.ingress.className | ternary "nginx" "none") $named -}}
{{- end -}}

{{/* By the name of Ingress and Service: what leads to the gateway, and the seconds in which an answer must begin. Every path: the gateway
     answers 404 to what is no public route, and leads to no other port. A login may take 10 seconds (R14). */}}
{{- define "course-exchange.ingress.routes" -}}
{{- if .Values.ingress.enabled -}}
gateway: { path: /, pathType: Prefix, seconds: 3 }
{{- if ne (include "course-exchange.ingress.controller" .) "none" }}
gateway-login: { path: /login, pathType: Exact, seconds: 15 }
{{- end }}
{{- end -}}
{{- end -}}

{{/* No redirect, and limits of size and time, which end early what the gateway would refuse; of (list root seconds). */}}
{{- define "course-exchange.ingress.annotations" -}}
{{- $root := first . -}}
{{- $controller := include "course-exchange.ingress.controller" $root -}}
# ingress-nginx redirects http by default (R28.5), and so does Traefik where it serves a class of ingress-nginx.
nginx.ingress.kubernetes.io/ssl-redirect: "false"
nginx.ingress.kubernetes.io/force-ssl-redirect: "false"
{{- with $root.Values.ingress }}
{{- if eq $controller "nginx" }}
nginx.ingress.kubernetes.io/proxy-body-size: 64k
nginx.ingress.kubernetes.io/proxy-connect-timeout: "2"
# Between two reads or two writes.
nginx.ingress.kubernetes.io/proxy-read-timeout: {{ last $ | quote }}
nginx.ingress.kubernetes.io/proxy-send-timeout: {{ last $ | quote }}
# Another pod gets what one did not answer, but never a POST that one has got, whatever the controller's own settings say.
nginx.ingress.kubernetes.io/proxy-next-upstream: error timeout
nginx.ingress.kubernetes.io/proxy-next-upstream-tries: {{ int .attempts | quote }}
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

{{/* By which Traefik's annotations know an object of the release, of (list root name). */}}
{{- define "course-exchange.traefik.name" -}}
{{- (first .).Release.Namespace }}-{{ include "course-exchange.name" . }}@kubernetescrd
{{- end -}}

{{/* Of a Service of the gateway, where Traefik reads its time limits; empty for other controllers. Of (list root service). */}}
{{- define "course-exchange.ingress.serviceAnnotations" -}}
{{- $root := first . -}}
{{- if and $root.Values.ingress.enabled (eq (include "course-exchange.ingress.controller" $root) "traefik") -}}
traefik.ingress.kubernetes.io/service.serverstransport: {{ include "course-exchange.traefik.name" . }}
{{- end -}}
{{- end -}}
