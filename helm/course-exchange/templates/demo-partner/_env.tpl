{{/* The demo partner's settings, of a context (dict root component values); and the files of its secrets. */}}
{{- define "course-exchange.demoPartner.env" -}}
- name: ISSUER
  value: {{ .root.Values.issuer | quote }}
- name: PUBLIC_URL
  value: {{ .values.publicUrl | quote }}
- name: HTTP_HOST
  value: {{ include "course-exchange.listenAddress" .root | quote }}
- name: HTTP_PORT
  value: "9000"
- name: HEALTH_HOST
  value: {{ include "course-exchange.listenAddress" .root | quote }}
- name: HEALTH_PORT
  value: "9001"
- name: CLIENT_ID
  value: {{ .values.clientId | quote }}
- name: SCOPES
  value: {{ .values.scopes | quote }}
- name: DATABASE_FILE
  value: /data/demo-partner.sqlite
{{- end -}}

{{- define "course-exchange.demoPartner.files" -}}
{{- with .Values.demoPartner }}
- { path: CLIENT_SECRET, secret: {{ .existingSecret }}, key: {{ .clientSecretKey }} }
- { path: TOKEN_ENCRYPTION_KEY, secret: {{ .existingSecret }}, key: {{ .tokenEncryptionKeyKey }} }
{{- end }}
{{- end -}}
