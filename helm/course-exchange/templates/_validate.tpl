{{/* What the schema cannot say in a sentence, and what environments forbid. Every mistake is told, one sentence each. */}}

{{- define "course-exchange.validate" -}}
{{- $parts := list "environment" "secretNames" "stores" "entry" "private" "metrics" "rollouts" "environmentVariables" "labels" "production" -}}
{{- $mistakes := list -}}
{{- range $parts -}}
{{- range splitList "\n" (include (printf "course-exchange.validate.%s" .) $) -}}
{{- with trim . -}}{{- $mistakes = append $mistakes . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- with $mistakes -}}
{{- fail (printf "\n%s\n" (join "\n" .)) -}}
{{- end -}}
{{- end -}}

{{- define "course-exchange.validate.environment" -}}
{{- if not .Values.environment }}
environment is missing: set it to production or test.
{{- end }}
{{- if not .Values.issuer }}
issuer is missing: set it to the public origin of this environment, such as https://exchange.example.net.
{{- else if not (regexMatch "^https?://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?$" .Values.issuer) }}
issuer is not an origin: set it to scheme, host in small letters and optional port alone, without path or slash at the end.
{{- end }}
{{- end -}}

{{/* Roles that nobody logs in as, as YAML. */}}
{{- define "course-exchange.validate.needlessRoles" -}}
identityOperator: {{ not .Values.identity.operator.enabled }}
catalogFeed: {{ not .Values.designCatalog.feed.enabled }}
{{- end -}}

{{- define "course-exchange.validate.secretNames" -}}
{{- if not .Values.secrets.existingSecret }}
secrets.existingSecret is missing: make a Secret with {{ .Values.secrets.keyEncryptionKeyKey }} and {{ .Values.secrets.userHashKeyKey }}, and name it.
{{- end }}
{{- $needless := include "course-exchange.validate.needlessRoles" . | fromYaml }}
{{- range $name, $role := .Values.postgres.roles }}
{{- if not (or $role.existingSecret (get $needless $name)) }}
postgres.roles.{{ $name }}.existingSecret is missing: make a Secret with the login of role {{ snakecase $name }}, and name it.
{{- end }}
{{- end }}
{{- if and .Values.demoPartner.enabled (not .Values.demoPartner.existingSecret) }}
demoPartner.existingSecret is missing: make a Secret with {{ .Values.demoPartner.clientSecretKey }} and {{ .Values.demoPartner.tokenEncryptionKeyKey }}, and name it.
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.postgres" -}}
{{- $needless := include "course-exchange.validate.needlessRoles" . | fromYaml }}
{{- with .Values.postgres }}
{{- $withoutUri := false }}
{{- range $name, $role := .roles }}
{{- if not (or $role.uriKey (get $needless $name)) }}{{ $withoutUri = true }}{{ end }}
{{- if and $role.uriKey $.Values.postgres.host }}
postgres.roles.{{ $name }}.uriKey stands beside postgres.host: leave it empty, for user and password then come from usernameKey and passwordKey and all else from postgres.
{{- end }}
{{- end }}
{{- if and $withoutUri (not .host) }}
postgres.host is missing: name the host of Postgres, or give every role a uriKey.
{{- end }}
{{- if and .readHost (not .host) }}
postgres.readHost needs postgres.host: without it the role catalogRo reads where its own URL says.
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.stores" -}}
{{- include "course-exchange.validate.postgres" . }}
{{- with .Values.redis }}
{{- if not .hosts }}
redis.hosts is missing: name the host of Redis and its port, or those of the Sentinels or of the Cluster.
{{- end }}
{{- if and (eq .mode "sentinel") (not .sentinel.masterName) }}
redis.sentinel.masterName is missing: give the name by which the Sentinels know the servers.
{{- end }}
{{- if and (eq .mode "cluster") (ne (int .database) 0) }}
redis.database must be 0 where redis.mode is cluster: a Cluster has no other database.
{{- end }}
{{- if and (eq .mode "standalone") (gt (len .hosts) 1) }}
redis.hosts has more than one host: name one, or set redis.mode to sentinel or cluster.
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.entry" -}}
{{- $host := include "course-exchange.host" .Values.issuer }}
{{- if and .Values.ingress.host (ne .Values.ingress.host $host) }}
ingress.host is not the issuer's host: set it to {{ $host | default "the host of issuer" }}, or leave it empty.
{{- end }}
{{- if and (.Values.httpRoute).enabled (not .Values.httpRoute.parentRefs) }}
httpRoute.parentRefs is missing: name the Gateway that the HTTPRoute belongs to.
{{- end }}
{{- with .Values.networkPolicy }}
{{- $entry := or $.Values.ingress.enabled ($.Values.httpRoute).enabled $.Values.demoPartner.ingress.enabled }}
{{- if and .enabled $entry (not (or .ingressController.namespaceSelector .ingressController.podSelector .ingressController.ipBlocks)) }}
networkPolicy.ingressController is missing: say by selectors or ipBlocks where the ingress controller's requests come from, else none gets through.
{{- end }}
{{- end }}
{{- with .Values.demoPartner }}
{{- if and .enabled (not (regexMatch "^https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?$" .publicUrl)) }}
demoPartner.publicUrl is not an https origin: set it to the address under which browsers reach the demo partner, without path.
{{- end }}
{{- if and .enabled (not (hasPrefix "https://" $.Values.issuer)) }}
demoPartner.enabled needs an https issuer: partners speak plain http with nobody but their own machine.
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.private" -}}
{{- with .Values.identity }}
{{- if .keyRotation.enabled }}
{{- if not (and .operator.enabled .operator.tlsSecret) }}
identity.keyRotation.enabled needs identity.operator.tlsSecret: without certificates nobody outside of the pod reaches the operator port.
{{- end }}
{{- if not .keyRotation.tlsSecret }}
identity.keyRotation.tlsSecret is missing: make a Secret with the certificate that the CronJob shows to the operator port, and name it.
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.internalTls }}
{{- if and .certManager.enabled (not .certManager.issuerRef.name) }}
internalTls.certManager.issuerRef is missing: name the Issuer that signs the services' certificates.
{{- end }}
{{- $now := toDate "2006-01-02" "2000-01-01" }}
{{- if le (dateModify .certManager.duration $now | unixEpoch | int64) (dateModify .certManager.renewBefore $now | unixEpoch | int64) }}
internalTls.certManager.renewBefore must be shorter than duration: a certificate would be renewed without end.
{{- end }}
{{- if and .enabled (not .certManager.enabled) }}
{{- range $component, $name := .secretNames }}
{{- if not $name }}
internalTls.secretNames.{{ $component }} is missing: make a Secret with tls.crt, tls.key and ca.crt, and name it, or set internalTls.certManager.
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.metrics" -}}
{{- if and ((.Values.metrics).serviceMonitor).enabled .Values.networkPolicy.enabled (not .Values.networkPolicy.monitoring) }}
metrics.serviceMonitor.enabled needs networkPolicy.monitoring: say by peers where Prometheus is, else it reaches no health port.
{{- end }}
{{- end -}}
