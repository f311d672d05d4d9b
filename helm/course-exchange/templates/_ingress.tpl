{{/* Ingresses, and what a controller is told about the gateway. */}}

{{/* Leads to a component, of (list root component values origin annotations). Class and TLS are those of `ingress`. */}}
{{- define "course-exchange.ingress" -}}
{{- $root := first . }}
{{- $component := index . 1 }}
{{- $host := include "course-exchange.host" (index . 3) }}
{{- with index . 2 }}{{ if .enabled -}}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  {{- include "course-exchange.metadata" (list $root $component) | nindent 2 }}
  {{- include "course-exchange.annotations" (last $) | nindent 2 }}
spec:
  {{- with $root.Values.ingress.className }}
  ingressClassName: {{ . }}
  {{- end }}
  {{- if $root.Values.ingress.tls.enabled }}
  tls:
    - hosts: [{{ $host }}]
      {{- with .tls.existingSecret }}
      secretName: {{ . }}
      {{- end }}
  {{- end }}
  rules:
    - host: {{ $host }}
      http:
        paths:
          # Every path: the gateway answers 404 to what is no public route, and leads to no other port.
          - path: /
            pathType: Prefix
            backend:
              service:
                name: {{ include "course-exchange.name" (list $root $component) }}
                port: { name: http }
{{- end }}{{ end }}
{{- end -}}

{{/* Whose annotations the Ingress gets: nginx, traefik or none. */}}
{{- define "course-exchange.ingress.controller" -}}
{{- $named := .Values.ingress.controller -}}
{{- eq $named "auto" | ternary (contains "nginx" .Values.ingress.className | ternary "nginx" "none") $named -}}
{{- end -}}

{{/* No redirect, and limits of size and time, which end early what the gateway would refuse. */}}
{{- define "course-exchange.ingress.annotations" -}}
{{- $controller := include "course-exchange.ingress.controller" . -}}
# ingress-nginx redirects http by default (R28.5), and so does Traefik where it serves a class of ingress-nginx.
nginx.ingress.kubernetes.io/ssl-redirect: "false"
nginx.ingress.kubernetes.io/force-ssl-redirect: "false"
{{ if eq $controller "nginx" -}}
nginx.ingress.kubernetes.io/proxy-body-size: 64k
nginx.ingress.kubernetes.io/proxy-connect-timeout: "2"
# Between two reads or two writes: more than a login may take.
nginx.ingress.kubernetes.io/proxy-read-timeout: "15"
nginx.ingress.kubernetes.io/proxy-send-timeout: "15"
# Another pod gets what one did not answer, but never a POST that one has got, whatever the controller's own settings say.
nginx.ingress.kubernetes.io/proxy-next-upstream: error timeout
nginx.ingress.kubernetes.io/proxy-next-upstream-tries: "2"
{{- else if include "course-exchange.ingress.serviceAnnotations" $ -}}
traefik.ingress.kubernetes.io/router.middlewares: {{ $.Release.Namespace }}-{{ include "course-exchange.name" (list $ "retry") }}@kubernetescrd
{{- end -}}
{{- end -}}

{{/* Of the gateway's Service, where Traefik reads its time limits; empty for other controllers. */}}
{{- define "course-exchange.ingress.serviceAnnotations" -}}
{{- if and .Values.ingress.enabled (eq (include "course-exchange.ingress.controller" .) "traefik") -}}
traefik.ingress.kubernetes.io/service.serverstransport: {{ .Release.Namespace }}-{{ include "course-exchange.name" (list . "gateway") }}@kubernetescrd
{{- end -}}
{{- end -}}
