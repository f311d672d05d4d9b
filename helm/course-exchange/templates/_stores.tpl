{{/* How a program reaches Postgres and Redis. */}}

{{/* Postgres for a program's roles, of (list root program). User and password are in files. */}}
{{- define "course-exchange.postgres.env" -}}
{{- $root := first . -}}
{{- $postgres := $root.Values.postgres -}}
{{- range $prefix, $role := get (include "course-exchange.roles" $root | fromYaml) (last .) | default dict }}
{{- $host := eq $role "catalogRo" | ternary (default $postgres.host $postgres.readHost) $postgres.host }}
{{ $prefix }}_URL: {{ printf "postgres://%s:%d/%s?%s" $host (int $postgres.port) $postgres.database (include "course-exchange.postgres.tls" $root) | quote }}
{{- end }}
{{- end -}}

{{/* node-pg reads `require` as verify-full without `uselibpqcompat`. */}}
{{- define "course-exchange.postgres.tls" -}}
{{- $tls := .Values.postgres.tls -}}
{{- if eq $tls.mode "require" -}}
sslmode=require&uselibpqcompat=true
{{- else -}}
sslmode={{ $tls.mode }}
{{- if and (eq $tls.mode "verify-full") $tls.caSecret.name -}}
&sslrootcert={{ include "course-exchange.secretsDirectory" . }}/postgres-ca.crt
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The files of a program's roles, of (list root program), and the server's CA. */}}
{{- define "course-exchange.postgres.files" -}}
{{- $postgres := (first .).Values.postgres -}}
{{- $roles := get (include "course-exchange.roles" (first .) | fromYaml) (last .) | default dict }}
{{- range $prefix, $name := $roles }}
{{- with get $postgres.roles $name }}
- { path: {{ $prefix }}_USER, secret: {{ .existingSecret }}, key: {{ .usernameKey }} }
- { path: {{ $prefix }}_PASSWORD, secret: {{ .existingSecret }}, key: {{ .passwordKey }} }
{{- end }}
{{- end }}
{{- with $postgres.tls }}
{{- if and $roles (eq .mode "verify-full") .caSecret.name }}
- { path: postgres-ca.crt, secret: {{ .caSecret.name }}, key: {{ .caSecret.key }} }
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.redis.env" -}}
{{- $redis := .Values.redis }}
REDIS_URL: {{ printf "%s://%s/%d" ($redis.tls.enabled | ternary "rediss" "redis") (join "," $redis.hosts) (int $redis.database) | quote }}
REDIS_MIN_REPLICAS: {{ int $redis.minReplicas | quote }}
{{- if $redis.settingsAttested }}
REDIS_SETTINGS_ATTESTED: "true"
{{- end }}
{{- if eq $redis.mode "sentinel" }}
REDIS_SENTINEL_MASTER: {{ $redis.sentinel.masterName | quote }}
{{- else if eq $redis.mode "cluster" }}
REDIS_CLUSTER: "true"
{{- end }}
{{- end -}}

{{/* Which Redis a container of identity uses, of its environment as a map: `sentinel NAME a:26379,b:26379/0`. The order of hosts, their
     default port and TLS make no other Redis. */}}
{{- define "course-exchange.redis.name" -}}
{{- $sentinel := get . "REDIS_SENTINEL_MASTER" -}}
{{- $parts := get . "REDIS_URL" | trimPrefix "redis://" | trimPrefix "rediss://" | lower | splitList "/" -}}
{{- $hosts := list -}}
{{- range splitList "," (first $parts) -}}
{{- $hosts = append $hosts (regexMatch ":[0-9]+$" . | ternary . (printf "%s:%s" . (empty $sentinel | ternary "6379" "26379"))) -}}
{{- end -}}
{{- $mode := eq (get . "REDIS_CLUSTER") "true" | ternary "cluster" "standalone" -}}
{{- empty $sentinel | ternary $mode (printf "sentinel %s" $sentinel) }} {{ sortAlpha $hosts | join "," }}/{{ last $parts }}
{{- end -}}

{{/* Of `redis`. */}}
{{- define "course-exchange.redis.files" -}}
{{- $sentinels := eq .mode "sentinel" | ternary .sentinel.existingSecret "" }}
{{- range $prefix, $secret := dict "REDIS" .existingSecret "REDIS_SENTINEL" $sentinels }}
{{- range $setting, $key := empty $secret | ternary dict (dict "USERNAME" $.usernameKey "PASSWORD" $.passwordKey) }}
{{- if $key }}
- { path: {{ $prefix }}_{{ $setting }}, secret: {{ $secret }}, key: {{ $key }} }
{{- end }}
{{- end }}
{{- end }}
{{- if and .tls.enabled .tls.caSecret.name }}
- { path: REDIS_TLS_CA, secret: {{ .tls.caSecret.name }}, key: {{ .tls.caSecret.key }} }
{{- end }}
{{- end -}}
