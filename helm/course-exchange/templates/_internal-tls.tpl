{{/* Mutual TLS between the services: one Secret of the kubernetes.io/tls kind with ca.crt for each of them, given or
     kept by cert-manager. Mounted as a folder, never by subPath, so that a renewed certificate arrives. */}}

{{/* Secret of (list root component valuesKey). */}}
{{- define "course-exchange.internalTls.secretName" -}}
{{- default (printf "%s-tls" (include "course-exchange.name" (list (first .) (index . 1)))) (get (first .).Values.internalTls.secretNames (last .)) -}}
{{- end -}}

{{- define "course-exchange.internalTls.env" -}}
{{- if .Values.internalTls.enabled }}
- name: RPC_TLS_DIRECTORY
  value: /run/course-exchange/tls
{{- end }}
{{- end -}}

{{- define "course-exchange.internalTls.mount" -}}
{{- if .Values.internalTls.enabled }}
- name: tls
  mountPath: /run/course-exchange/tls
  readOnly: true
{{- end }}
{{- end -}}

{{/* Of (list root component valuesKey). */}}
{{- define "course-exchange.internalTls.volume" -}}
{{- if (first .).Values.internalTls.enabled }}
- name: tls
  secret:
    secretName: {{ include "course-exchange.internalTls.secretName" . }}
    defaultMode: 288
{{- end }}
{{- end -}}

{{/* Certificate of cert-manager, of (list root component valuesKey). Its names are those of the headless Service. */}}
{{- define "course-exchange.internalTls.certificate" -}}
{{- $root := first . -}}
{{- $tls := $root.Values.internalTls -}}
{{- if and $tls.enabled $tls.certManager.enabled -}}
{{- $name := include "course-exchange.name" (list $root (index . 1)) -}}
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  {{- include "course-exchange.metadata" (list $root (index . 1)) | nindent 2 }}
spec:
  secretName: {{ include "course-exchange.internalTls.secretName" . }}
  duration: {{ $tls.certManager.duration }}
  renewBefore: {{ $tls.certManager.renewBefore }}
  privateKey:
    algorithm: ECDSA
    size: 256
    rotationPolicy: Always
  usages: [digital signature, server auth, client auth]
  dnsNames:
    - {{ $name }}
    - {{ $name }}.{{ $root.Release.Namespace }}
    - {{ $name }}.{{ $root.Release.Namespace }}.svc
    - {{ $name }}.{{ $root.Release.Namespace }}.svc.{{ $root.Values.clusterDomain }}
  issuerRef:
    {{- toYaml $tls.certManager.issuerRef | nindent 4 }}
{{- end -}}
{{- end -}}
