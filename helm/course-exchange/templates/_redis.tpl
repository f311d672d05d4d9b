{{/* How a program reaches Redis: alone, through Sentinels, or as a Cluster. */}}

{{- define "course-exchange.redis.env" -}}
{{- $redis := .Values.redis }}
- name: REDIS_URL
  value: {{ printf "%s://%s/%d" ($redis.tls.enabled | ternary "rediss" "redis") (join "," $redis.hosts) (int $redis.database) | quote }}
- name: REDIS_MIN_REPLICAS
  value: {{ int $redis.minReplicas | quote }}
{{- if eq $redis.mode "sentinel" }}
- name: REDIS_SENTINEL_MASTER
  value: {{ $redis.sentinel.masterName | quote }}
{{- else if eq $redis.mode "cluster" }}
- name: REDIS_CLUSTER
  value: "true"
{{- end }}
{{- end -}}

{{- define "course-exchange.redis.files" -}}
{{- $redis := .Values.redis }}
{{- include "course-exchange.redis.account" (list "REDIS" $redis) }}
{{- if eq $redis.mode "sentinel" }}
{{- include "course-exchange.redis.account" (list "REDIS_SENTINEL" $redis.sentinel) }}
{{- end }}
{{- if and $redis.tls.enabled $redis.tls.caSecret.name }}
- { path: REDIS_TLS_CA, secret: {{ $redis.tls.caSecret.name }}, key: {{ $redis.tls.caSecret.key }} }
{{- end }}
{{- end -}}

{{/* Of (list prefix account). */}}
{{- define "course-exchange.redis.account" -}}
{{- $prefix := first . -}}
{{- with last . }}{{ if .existingSecret }}
{{- with .usernameKey }}
- { path: {{ $prefix }}_USERNAME, secret: {{ (last $).existingSecret }}, key: {{ . }} }
{{- end }}
- { path: {{ $prefix }}_PASSWORD, secret: {{ .existingSecret }}, key: {{ .passwordKey }} }
{{- end }}{{ end }}
{{- end -}}
