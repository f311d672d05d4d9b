{{/* Whether there is anybody to test with, as text: "" for no. */}}
{{- define "course-exchange.tests.wanted" -}}
{{- if or (.Values.tests).existingSecret .Values.demoPartner.enabled }}true{{ end -}}
{{- end -}}

{{/* Where the contract suite finds the release, and whom it is; of a context (dict root component values). */}}
{{- define "course-exchange.tests.env" -}}
{{- if .values.existingSecret }}
- name: CONTRACT_STACK
  value: /run/course-exchange/stack/stack.json
{{- else }}
# The seed step of the migration Job has brought them.
- name: CONTRACT_DEMO
  value: "true"
- name: CONTRACT_DEMO_PARTNER_URL
  value: {{ .root.Values.demoPartner.publicUrl | quote }}
{{- end }}
- name: CONTRACT_ISSUER
  value: {{ .root.Values.issuer | quote }}
- name: CONTRACT_BASE_URL
  value: {{ printf "http://%s.%s.svc.%s:8080" (include "course-exchange.name" (list .root "gateway")) .root.Release.Namespace .root.Values.clusterDomain | quote }}
{{- end -}}
