{{/* What production refuses. */}}

{{- define "course-exchange.validate.production" -}}
{{- if eq .Values.environment "production" }}
{{- range list "content" "tls" "securityContexts" "examples" "replicas" "images" }}
{{- include (printf "course-exchange.validate.production.%s" .) $ }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.production.content" -}}
{{- if .Values.demoPartner.enabled }}
demoPartner.enabled is refused in production: the demo partner belongs in a test environment.
{{- end }}
{{- if .Values.migrations.seed.existingSecret }}
migrations.seed.existingSecret is refused in production: operators register partners with partnerctl.
{{- end }}
{{- if hasPrefix "http://" .Values.issuer }}
issuer must be https in production: tokens and passwords pass through it.
{{- end }}
{{- if not .Values.internalTls.enabled }}
internalTls.enabled must be true in production: tokens and passwords pass between the services.
{{- end }}
{{- if and .Values.identity.operator.enabled (not .Values.identity.operator.tlsSecret) }}
identity.operator.tlsSecret is missing in production: without certificates, anyone who enters the pod can change clients and users under any name; create a Secret as docs/install.md says and name it.
{{- end }}
{{- if not .Values.networkPolicy.enabled }}
networkPolicy.enabled must be true in production: the services' ports are for one another only.
{{- end }}
{{- if not .Values.redis.existingSecret }}
redis.existingSecret is missing: production refuses a Redis without a password.
{{- end }}
{{- end -}}

{{/* A store on the pod's loopback address is a proxy in the pod, which speaks TLS with the store. */}}
{{- define "course-exchange.validate.production.tls" -}}
{{- $loopback := "^(localhost|127\\.[0-9.]+|\\[::1\\])(:[0-9]+)?$" }}
{{- $mode := .Values.postgres.tls.mode }}
{{- if ne $mode "verify-full" }}
{{- range $name := list "host" "readHost" }}
{{- $host := get $.Values.postgres $name }}
{{- if and $host (not (regexMatch $loopback $host)) }}
postgres.tls.mode is {{ $mode }} in production, and postgres.{{ $name }} is another machine: set the mode to verify-full; only a proxy on the pod's loopback address needs none.
{{- end }}
{{- end }}
{{- end }}
{{- if not .Values.redis.tls.enabled }}
{{- range .Values.redis.hosts }}
{{- if not (regexMatch $loopback .) }}
redis.tls.enabled is false in production, and {{ . }} of redis.hosts is another machine: set it to true; only a proxy on the pod's loopback address needs none.
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.ingress }}
{{- if and .enabled (not .tls.enabled) (not .tls.terminatedElsewhere) }}
ingress.tls.enabled is false in production: set it to true, or set ingress.tls.terminatedElsewhere if a load balancer in front of the controller ends TLS.
{{- end }}
{{- $type := $.Values.gateway.service.type }}
{{- if and (ne $type "ClusterIP") (not .tls.terminatedElsewhere) }}
gateway.service.type is {{ $type }} in production: it leads past the Ingress, without TLS; set it to ClusterIP, or set ingress.tls.terminatedElsewhere if a load balancer ends TLS.
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.production.securityContexts" -}}
{{- range $name := list "gateway" "identity" "designCatalog" "migrations" "tests" }}
{{- $values := include "course-exchange.values" (list $ $name) | fromJson }}
{{- $context := include "course-exchange.merged" (list (default dict $values.podSecurityContext) (default dict $values.containerSecurityContext)) | fromJson }}
{{- if ne (get $context "readOnlyRootFilesystem" | toString) "true" }}
{{ $name }} has a writable root filesystem in production: set readOnlyRootFilesystem of its containerSecurityContext to true.
{{- end }}
{{- if or (ne (get $context "runAsNonRoot" | toString) "true") (eq (get $context "runAsUser" | toString) "0") }}
{{ $name }} may run as root in production: set runAsNonRoot of its podSecurityContext to true, and no runAsUser to 0.
{{- end }}
{{- if or (ne (get $context "allowPrivilegeEscalation" | toString) "false") (eq (get $context "privileged" | toString) "true") }}
{{ $name }} may gain privileges in production: set allowPrivilegeEscalation of its containerSecurityContext to false, and leave privileged out.
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.production.examples" -}}
{{- $host := include "course-exchange.host" .Values.issuer }}
{{- if or (regexMatch "(^|\\.)(example|test|invalid|localhost|local)$" $host) (regexMatch "(^|\\.)example\\.(com|net|org)$" $host) (regexMatch "^[0-9.]+$" $host) }}
issuer is an example in production: set it to the address that partners will use.
{{- end }}
{{- $names := dict "secrets.existingSecret" .Values.secrets.existingSecret "redis.existingSecret" .Values.redis.existingSecret "postgres.host" .Values.postgres.host }}
{{- range $role, $values := .Values.postgres.roles }}
{{- $_ := set $names (printf "postgres.roles.%s.existingSecret" $role) $values.existingSecret }}
{{- end }}
{{- range $name, $value := $names }}
{{- with regexFind "(?i)\\b(example|change-?me|demo)[0-9]*\\b" (toString $value) }}
{{ $name }} is an example in production (it contains {{ . }}): create one for this environment and name it.
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.production.replicas" -}}
{{- range $name := list "gateway" "identity" "designCatalog" }}
{{- $values := include "course-exchange.values" (list $ $name) | fromJson }}
{{- if lt (include "course-exchange.leastReplicas" $values | int) 2 }}
{{ $name }} has fewer than two pods in production: set {{ $name }}.replicas, or {{ $name }}.autoscaling.minReplicas, to 2 or more.
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.production.images" -}}
{{- range $name := list "gateway" "identity" "designCatalog" "migrations" }}
{{- $image := (get $.Values $name).image }}
{{- if and (eq (default $.Values.image.tag $image.tag) "latest") (not $image.digest) }}
{{ $name }} has the tag latest in production: name a version in image.tag or {{ $name }}.image.tag, or a digest.
{{- end }}
{{- end }}
{{- end -}}
