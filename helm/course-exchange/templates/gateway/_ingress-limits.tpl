{{/* Limits of size and time as the annotations of an Ingress class that knows any. The gateway has its own limits; these
     end what would only be refused there. Of the values of `ingress`. */}}
{{- define "course-exchange.ingress.limits" -}}
{{- $controller := default "auto" .limits.controller -}}
{{- if or (eq $controller "nginx") (and (eq $controller "auto") (contains "nginx" .className)) -}}
nginx.ingress.kubernetes.io/proxy-body-size: {{ .limits.bodySize }}
nginx.ingress.kubernetes.io/proxy-connect-timeout: {{ int .limits.connectTimeoutSeconds | quote }}
nginx.ingress.kubernetes.io/proxy-read-timeout: {{ int .limits.timeoutSeconds | quote }}
nginx.ingress.kubernetes.io/proxy-send-timeout: {{ int .limits.timeoutSeconds | quote }}
{{- end -}}
{{- end -}}
