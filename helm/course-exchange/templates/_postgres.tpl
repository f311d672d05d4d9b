{{/* How a program reaches Postgres as one of its roles. Of (list root role prefix): `prefix` begins the settings' names,
     such as OPERATOR_POSTGRES. With postgres.host the URL is made here without account, and user and password stand in
     files; without it the URL comes from the Secret whole. Never both: such a URL says itself whether TLS is used. */}}

{{- define "course-exchange.postgres.env" -}}
{{- $root := index . 0 -}}
{{- $postgres := $root.Values.postgres -}}
{{- if $postgres.host }}
{{- $host := eq (index . 1) "catalogRo" | ternary (default $postgres.host $postgres.readHost) $postgres.host }}
- name: {{ index . 2 }}_URL
  value: {{ printf "postgres://%s:%d/%s?%s" $host (int $postgres.port) $postgres.database (include "course-exchange.postgres.tls" $root) | quote }}
{{- end }}
{{- end -}}

{{/* node-pg reads `require` as verify-full unless it is told to do as libpq does. */}}
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

{{- define "course-exchange.postgres.files" -}}
{{- $postgres := (first .).Values.postgres }}
{{- $role := get $postgres.roles (index . 1) }}
{{- if not $postgres.host }}
- { path: {{ last . }}_URL, secret: {{ $role.existingSecret }}, key: {{ $role.uriKey }} }
{{- else }}
- { path: {{ last . }}_USER, secret: {{ $role.existingSecret }}, key: {{ $role.usernameKey }} }
- { path: {{ last . }}_PASSWORD, secret: {{ $role.existingSecret }}, key: {{ $role.passwordKey }} }
{{- end }}
{{- end -}}

{{/* The authority of the server's certificate, once for each pod. */}}
{{- define "course-exchange.postgres.authority" -}}
{{- $tls := .Values.postgres.tls -}}
{{- if and (eq $tls.mode "verify-full") $tls.caSecret.name }}
- { path: postgres-ca.crt, secret: {{ $tls.caSecret.name }}, key: {{ $tls.caSecret.key }} }
{{- end }}
{{- end -}}
