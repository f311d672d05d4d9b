{{/* What production refuses. One sentence each. */}}

{{- define "course-exchange.validate.production" -}}
{{- if eq .Values.environment "production" }}
{{- include "course-exchange.validate.production.content" . }}
{{- include "course-exchange.validate.production.examples" . }}
{{- include "course-exchange.validate.production.replicas" . }}
{{- include "course-exchange.validate.production.images" . }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.production.content" -}}
{{- if .Values.demoPartner.enabled }}
demoPartner.enabled is refused in production: the demo partner belongs into a test environment.
{{- end }}
{{- if .Values.migrations.seed.existingSecret }}
migrations.seed.existingSecret is refused in production: partners are registered by operators with partnerctl.
{{- end }}
{{- if hasPrefix "http://" .Values.issuer }}
issuer must be https in production: tokens and passwords pass there.
{{- end }}
{{- if not .Values.internalTls.enabled }}
internalTls.enabled must be true in production: tokens and passwords pass between the services.
{{- end }}
{{- if not .Values.networkPolicy.enabled }}
networkPolicy.enabled must be true in production: the services' ports are for one another alone.
{{- end }}
{{- if and (or .Values.ingress.enabled (.Values.httpRoute).enabled) (not .Values.gateway.trustedProxies) }}
gateway.trustedProxies is missing in production: list the networks of the ingress controller's pods, else the login throttle takes all people for one.
{{- end }}
{{- if not .Values.postgres.host }}
postgres.host is missing: production takes no URL from uriKey, which says itself whether TLS is used; name the host, and user and password by usernameKey and passwordKey.
{{- end }}
{{- if and (ne .Values.redis.mode "standalone") (lt (int .Values.redis.minReplicas) 1) }}
redis.minReplicas must be 1 or more in production where redis.mode is {{ .Values.redis.mode }}: a failover would bring back tokens that were used.
{{- end }}
{{- if not .Values.redis.existingSecret }}
redis.existingSecret is missing: production refuses a Redis without password.
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.production.examples" -}}
{{- $host := include "course-exchange.host" .Values.issuer }}
{{- if or (regexMatch "(^|\\.)(example|test|invalid|localhost|local)$" $host) (regexMatch "(^|\\.)example\\.(com|net|org)$" $host) (regexMatch "^[0-9.]+$" $host) }}
issuer is an example's in production: set it to the address that partners will use.
{{- end }}
{{- $names := dict "secrets.existingSecret" .Values.secrets.existingSecret "redis.existingSecret" .Values.redis.existingSecret "postgres.host" .Values.postgres.host }}
{{- range $role, $values := .Values.postgres.roles }}
{{- $_ := set $names (printf "postgres.roles.%s.existingSecret" $role) $values.existingSecret }}
{{- end }}
{{- range $name, $value := $names }}
{{- with regexFind "(?i)\\b(example|change-?me|demo)[0-9]*\\b" (toString $value) }}
{{ $name }} is an example's in production, for it says {{ . }}: make one of this environment's own and name it.
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.production.replicas" -}}
{{- range $name := list "gateway" "identity" "designCatalog" }}
{{- $values := include "course-exchange.merged" (list $.Values.defaults (get $.Values $name)) | fromYaml }}
{{- if lt (include "course-exchange.leastReplicas" $values | int) 2 }}
{{ $name }} has fewer than two pods in production: set {{ $name }}.replicas, or {{ $name }}.autoscaling.minReplicas, to 2 or more.
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.production.images" -}}
{{- range $name := list "gateway" "identity" "designCatalog" "migrations" }}
{{- $image := (get $.Values $name).image }}
{{- if and (eq (default $.Values.image.tag $image.tag) "latest") (not $image.digest) }}
{{ $name }} has the tag latest in production: name a version by image.tag or {{ $name }}.image.tag, or a digest.
{{- end }}
{{- end }}
{{- end -}}
