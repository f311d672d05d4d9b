{{/* Ports that no route of the gateway leads to: identity's operator port and design-catalog's feed. They listen on the
     pod's loopback address, for `kubectl exec`, until a Secret with certificates opens them to the network by mTLS. */}}

{{/* Of (list root prefix tlsSecret): prefix is OPERATOR or FEED. */}}
{{- define "course-exchange.privatePort.env" -}}
{{- if last . }}
- name: {{ index . 1 }}_HOST
  value: {{ include "course-exchange.listenAddress" (first .) | quote }}
{{- end }}
{{- end -}}

{{- define "course-exchange.privatePort.files" -}}
{{- $prefix := first . -}}
{{- with last . }}
- { path: {{ $prefix }}_TLS_CERT, secret: {{ . }}, key: tls.crt }
- { path: {{ $prefix }}_TLS_KEY, secret: {{ . }}, key: tls.key }
- { path: {{ $prefix }}_TLS_CA, secret: {{ . }}, key: ca.crt }
{{- end }}
{{- end -}}

{{/* Of (list root component port name): a Service of its own, so that nothing else leads there. */}}
{{- define "course-exchange.privatePort.service" -}}
{{- $root := index . 0 -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "course-exchange.name" (list $root (printf "%s-%s" (index . 1) (index . 3))) }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "course-exchange.labels" (list $root (index . 1)) | nindent 4 }}
spec:
  type: ClusterIP
  selector:
    {{- include "course-exchange.selector" (list $root (index . 1)) | nindent 4 }}
  ports:
    - name: {{ index . 3 }}
      port: {{ index . 2 }}
      targetPort: {{ index . 3 }}
      protocol: TCP
      appProtocol: grpc
{{- end -}}
