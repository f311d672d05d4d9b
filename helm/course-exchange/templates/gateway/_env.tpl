{{/* The gateway's settings, of a context (dict root component values). */}}
{{- define "course-exchange.gateway.env" -}}
{{- $root := .root -}}
- name: ISSUER
  value: {{ $root.Values.issuer | quote }}
- name: HTTP_HOST
  value: {{ include "course-exchange.listenAddress" $root | quote }}
- name: HTTP_PORT
  value: "8080"
- name: HEALTH_HOST
  value: {{ include "course-exchange.listenAddress" $root | quote }}
- name: HEALTH_PORT
  value: "8081"
- name: IDENTITY_TARGET
  value: {{ include "course-exchange.rpc.target" (list $root "identity" 7001) | quote }}
- name: CATALOG_TARGET
  value: {{ include "course-exchange.rpc.target" (list $root "design-catalog" 7002) | quote }}
{{- include "course-exchange.internalTls.env" $root }}
{{- with .values.trustedProxies }}
- name: TRUSTED_PROXIES
  value: {{ join "," . | quote }}
{{- end }}
- name: RPC_TIMEOUT_MS
  value: {{ int .values.rpcTimeoutMs | quote }}
- name: LOGIN_TIMEOUT_MS
  value: {{ int .values.loginTimeoutMs | quote }}
{{- $names := dict "passwordReset" "PASSWORD_RESET" "privacy" "PRIVACY" "imprint" "IMPRINT" "support" "SUPPORT" }}
{{- range $key, $url := .values.links }}{{ if $url }}
- name: LINK_{{ get $names $key }}
  value: {{ $url | quote }}
{{- end }}{{ end }}
{{- end -}}
