{{/* Rules between values, and for an environment: all mistakes at once, a sentence each. values.schema.json has the rules for single
     values, and the migration Job checks connections. */}}

{{- define "course-exchange.mistakes" -}}
{{- $mistakes := list -}}
{{- range list "environment" "secretNames" "stores" "entry" "demoPartner" "private" "metrics" "rollouts" "dns" "environmentVariables" "labels" "secrets" "sameRedis" "production" -}}
{{- range splitList "\n" (include (printf "course-exchange.validate.%s" .) $) -}}
{{- with trim . -}}{{- $mistakes = append $mistakes . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- join "\n" $mistakes -}}
{{- end -}}

{{- define "course-exchange.validate.environment" -}}
{{- if not .Values.environment }}
environment is missing: set it to production or test.
{{- end }}
{{- if not .Values.issuer }}
issuer is missing: set it to the public origin of this environment, such as https://exchange.example.net.
{{- else if not (regexMatch "^https?://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?$" .Values.issuer) }}
issuer is not an origin: give scheme, lower-case host and optional port only, without a path or trailing slash.
{{- else if regexMatch "^(https://[^:]*:443|http://[^:]*:80)$" .Values.issuer }}
issuer names the port that its scheme means: leave it out, as browsers do.
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.secretNames" -}}
{{- if not .Values.secrets.existingSecret }}
secrets.existingSecret is missing: create a Secret with key-encryption-key and user-hash-key, and name it.
{{- end }}
{{- $unused := dict "identityOperator" (not .Values.identity.operator.enabled) "catalogFeed" (not .Values.designCatalog.feed.enabled) }}
{{- range $name, $role := .Values.postgres.roles }}
{{- if not (or $role.existingSecret (get $unused $name)) }}
postgres.roles.{{ $name }}.existingSecret is missing: create a Secret with the login of role {{ snakecase $name }}, and name it.
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.stores" -}}
{{- if not .Values.postgres.host }}
postgres.host is missing: name the host of Postgres.
{{- end }}
{{- with .Values.redis }}
{{- if not .hosts }}
redis.hosts is missing: name the host of Redis and its port, or those of the Sentinels or the Cluster.
{{- end }}
{{- if and (eq .mode "sentinel") (not .sentinel.masterName) }}
redis.sentinel.masterName is missing: give the name that the Sentinels know the servers by.
{{- end }}
{{- if and (eq .mode "cluster") (ne (int .database) 0) }}
redis.database must be 0 if redis.mode is cluster: a Cluster has no other database.
{{- end }}
{{- if and (eq .mode "standalone") (gt (len .hosts) 1) }}
redis.hosts has more than one host: name one, or set redis.mode to sentinel or cluster.
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.entry" -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}
httpRoute.parentRefs is missing: name the Gateway that the HTTPRoute belongs to.
{{- end }}
{{- range .Values.httpRoute.filters }}
{{- if eq .type "RequestRedirect" }}
httpRoute.filters has a RequestRedirect: remove it; a client that follows a redirect has already sent its secret by http, so only the gateway may answer requests by http.
{{- end }}
{{- end }}
{{- with .Values.gateway.service }}
{{- $type := .type }}
{{- if and .externalTrafficPolicy (eq $type "ClusterIP") }}
gateway.service.externalTrafficPolicy is for NodePort and LoadBalancer: remove it, or set gateway.service.type.
{{- end }}
{{- range $name, $_ := pick . "loadBalancerClass" "loadBalancerSourceRanges" }}
{{- if ne $type "LoadBalancer" }}
gateway.service.{{ $name }} is for LoadBalancer: remove it, or set gateway.service.type.
{{- end }}
{{- end }}
{{- end }}
{{- $behind := and (hasPrefix "https:" .Values.issuer) (or .Values.ingress.enabled .Values.httpRoute.enabled) }}
{{- if and (not .Values.gateway.trustedProxies) (or $behind (eq .Values.environment "production")) }}
gateway.trustedProxies is missing: list the networks from which the ingress controller, Gateway or load balancer calls; otherwise the gateway serves requests that came by http, and the login throttle treats all users as one.
{{- end }}
{{- if .Values.ingress.enabled }}
{{- range $name := list "ssl-redirect" "force-ssl-redirect" }}
{{- $annotation := printf "nginx.ingress.kubernetes.io/%s" $name }}
{{- if ne (dig $annotation "false" $.Values.ingress.annotations) "false" }}
ingress.annotations sets {{ $annotation }}: remove it; a client that follows a redirect has already sent its secret by http, so only the gateway may answer requests by http.
{{- end }}
{{- end }}
{{- end }}
{{- if and .Values.httpRoute.enabled .Values.httpRoute.requestTimeout }}
{{- $start := toDate "2006-01-02" "2000-01-01" }}
{{- $end := dateModify .Values.httpRoute.requestTimeout $start }}
{{- /* 0s is no limit. */}}
{{- if and ($end.After $start) (le $end.UnixMilli (add $start.UnixMilli 10000)) }}
httpRoute.requestTimeout is too short: it must be more than 10 s; otherwise the controller ends a slow login with an error.
{{- end }}
{{- end }}
{{- with .Values.networkPolicy }}
{{- $entry := or $.Values.ingress.enabled $.Values.httpRoute.enabled }}
{{- if and .enabled $entry (not (or .ingressController.namespaceSelector .ingressController.podSelector .ingressController.ipBlocks)) }}
networkPolicy.ingressController is missing: select the ingress controller's pods, or list its networks in ipBlocks; otherwise its requests are dropped.
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.demoPartner" -}}
{{- with .Values.demoPartner }}{{ if .enabled }}
{{- if not .existingSecret }}
demoPartner.existingSecret is missing: create a Secret with client-secret and token-encryption-key, and name it.
{{- end }}
{{- if not (regexMatch "^https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?$" .publicUrl) }}
demoPartner.publicUrl is not an https origin: set it to the address that browsers reach the demo partner at, without a path.
{{- end }}
{{- if not (hasPrefix "https://" $.Values.issuer) }}
demoPartner.enabled needs an https issuer: partners speak plain http only with their own machine.
{{- end }}
{{- end }}{{ end }}
{{- end -}}

{{- define "course-exchange.validate.private" -}}
{{- with .Values.identity }}
{{- range $job, $values := dict "keyRotation" .keyRotation "auditExport" .auditExport }}
{{- if and $values.tlsSecret (not (and $.Values.identity.operator.enabled $.Values.identity.operator.tlsSecret)) }}
identity.{{ $job }}.tlsSecret needs identity.operator.tlsSecret: without certificates the operator port cannot be reached from outside the pod.
{{- end }}
{{- end }}
{{- if ne (empty .auditExport.existingClaim) (empty .auditExport.tlsSecret) }}
identity.auditExport needs both existingClaim and tlsSecret: the claim to write to, the certificate to read the audit log.
{{- end }}
{{- end }}
{{- with .Values.internalTls }}
{{- if and .certManager.issuerRef (not .certManager.issuerRef.name) }}
internalTls.certManager.issuerRef has no name: name the Issuer that signs the services' certificates.
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.metrics" -}}
{{- $unwritten := "which are not in git: run `npx --yes pnpm@12 prepare` in the clone, or install a packaged chart." }}
{{- with .Values.metrics }}
{{- if and .prometheusRule.runbookUrl (not ($.Files.Glob "rules/*.yaml")) }}
metrics.prometheusRule.runbookUrl needs the chart's rules/, {{ $unwritten }}
{{- end }}
{{- if and .dashboards.enabled (not ($.Files.Glob "dashboards/*.json")) }}
metrics.dashboards.enabled needs the chart's dashboards/, {{ $unwritten }}
{{- end }}
{{- if and .prometheusRule.runbookUrl (not (regexMatch "^https?://[^/]" .prometheusRule.runbookUrl)) }}
metrics.prometheusRule.runbookUrl is no URL: it must begin with https:// or http://.
{{- end }}
{{- if and (ne .monitor.kind "none") $.Values.networkPolicy.enabled (not $.Values.networkPolicy.monitoring) }}
metrics.monitor.kind needs networkPolicy.monitoring: name the peers that are Prometheus; otherwise it reaches no health port.
{{- end }}
{{- end }}
{{- end -}}
