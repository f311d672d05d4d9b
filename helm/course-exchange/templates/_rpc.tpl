{{/* gRPC between the pods. The Service is headless, so that a client sees every pod and spreads its calls; the server
     ends connections after a while, so that clients look again and find new pods. */}}

{{/* Of (list root component port). Fully qualified, and certificates carry the name. */}}
{{- define "course-exchange.rpc.target" -}}
{{- $root := first . -}}
dns:///{{ include "course-exchange.name" (list $root (index . 1)) }}.{{ $root.Release.Namespace }}.svc.{{ $root.Values.clusterDomain }}:{{ last . }}
{{- end -}}

{{/* Of (list root port healthPort). */}}
{{- define "course-exchange.rpc.env" -}}
# In brackets, as in an address with a port.
- name: RPC_HOST
  value: {{ regexReplaceAll "^(.*:.*)$" (include "course-exchange.listenAddress" (first .)) "[${1}]" | quote }}
- name: RPC_PORT
  value: {{ index . 1 | quote }}
- name: HEALTH_HOST
  value: {{ include "course-exchange.listenAddress" (first .) | quote }}
- name: HEALTH_PORT
  value: {{ index . 2 | quote }}
- name: MAX_CONNECTION_AGE_MS
  value: {{ int (first .).Values.rpc.maxConnectionAgeMs | quote }}
{{- end -}}

{{/* Of (list root component port). */}}
{{- define "course-exchange.rpc.service" -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "course-exchange.metadata" (list (first .) (index . 1)) | nindent 2 }}
spec:
  type: ClusterIP
  clusterIP: None
  publishNotReadyAddresses: false
  selector:
    {{- include "course-exchange.selector" (list (first .) (index . 1)) | nindent 4 }}
  ports:
    - name: grpc
      port: {{ last . }}
      targetPort: grpc
      protocol: TCP
      appProtocol: grpc
{{- end -}}
