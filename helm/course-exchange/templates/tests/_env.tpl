{{/* Where the contract suite finds the release, and whom it is; of a context (dict root component values). */}}
{{- define "course-exchange.tests.env" -}}
- name: CONTRACT_STACK
  value: /run/course-exchange/stack/stack.json
- name: CONTRACT_ISSUER
  value: {{ .root.Values.issuer | quote }}
- name: CONTRACT_BASE_URL
  value: {{ printf "http://%s.%s.svc.%s:8080" (include "course-exchange.name" (list .root "gateway")) .root.Release.Namespace .root.Values.clusterDomain | quote }}
{{- end -}}
