{{/* Rules between values, and for an environment: all mistakes at once, a sentence each. values.schema.json has the rules for single
     values, Kubernetes those of its own objects, and the migration Job those of the settings and the stores that it finds. */}}

{{- define "course-exchange.mistakes" -}}
{{- $mistakes := list -}}
{{- range list "went" "missing" "together" "components" "secrets" "sameRedis" "production" -}}
{{- range splitList "\n" (include (printf "course-exchange.validate.%s" .) $) -}}
{{- with trim . -}}{{- $mistakes = append $mistakes . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- join "\n" $mistakes -}}
{{- end -}}

{{/* The sentences that apply, a line each, of a list of (list bad sentence). */}}
{{- define "course-exchange.sentences" -}}
{{- range . }}{{ if first . }}
{{ last . }}
{{- end }}{{ end }}
{{- end -}}

{{/* The keys of values that hold those of `defaults`, with the containers that read them. */}}
{{- define "course-exchange.components" -}}
gateway: [gateway]
identity: [identity]
designCatalog: [design-catalog]
migrations: [migrations.identity, migrations.design-catalog, migrations.seed]
demoPartner: [demo-partner]
tests: [contract-tests]
{{- end -}}

{{- define "course-exchange.validate.went" -}}
{{- $went := $.Files.Get "went.yaml" | fromYaml }}
{{- range $name, $sentence := $went }}
{{- $names := list $name }}
{{- if hasPrefix "defaults." $name }}
{{- range $key, $_ := include "course-exchange.components" $ | fromYaml }}{{ $names = append $names (replace "defaults." (printf "%s." $key) $name) }}{{ end }}
{{- end }}
{{- range $path := $names }}
{{- $found := $.Values }}
{{- range splitList "." $path }}{{ $found = kindIs "map" $found | ternary (get (kindIs "map" $found | ternary $found dict) .) "" }}{{ end }}
{{- if not (kindIs "string" $found) | or $found }}
{{ $path }} went: {{ $sentence }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.missing" -}}
{{- $https := hasPrefix "https:" .Values.issuer }}
{{- $entry := or .Values.ingress.enabled .Values.httpRoute.parentRefs }}
{{- $rules := list
  (list (not .Values.environment) "environment is missing: set it to production or test.")
  (list (not .Values.issuer) "issuer is missing: set it to the public origin of this environment, such as https://exchange.example.net.")
  (list (not .Values.secrets.existingSecret) "secrets.existingSecret is missing: create a Secret with key-encryption-key and user-hash-key, and name it.")
  (list (not .Values.postgres.host) "postgres.host is missing: name the host of Postgres.")
  (list (not .Values.redis.hosts) "redis.hosts is missing: name the host of Redis and its port, or those of the Sentinels or the Cluster.")
  (list (and (eq .Values.redis.mode "sentinel") (not .Values.redis.sentinel.masterName)) "redis.sentinel.masterName is missing: give the name that the Sentinels know the servers by.")
  (list (and (not .Values.gateway.trustedProxies) (or (and $https $entry) (eq .Values.environment "production"))) "gateway.trustedProxies is missing: list the networks from which the ingress controller, Gateway or load balancer calls; otherwise the gateway serves requests that came by http, and the login throttle treats all users as one.")
  (list (and .Values.networkPolicy.enabled $entry (not .Values.networkPolicy.ingressControllerFrom)) "networkPolicy.ingressControllerFrom is missing: select the ingress controller's pods, or list its networks; otherwise its requests are dropped.")
}}
{{- range $name, $role := omit .Values.postgres.roles "identityOperator" "catalogFeed" }}
{{- $rules = append $rules (list (not $role.existingSecret) (printf "postgres.roles.%s.existingSecret is missing: create a Secret with the login of role %s, and name it." $name (snakecase $name))) }}
{{- end }}
{{- with .Values.demoPartner }}{{ if .enabled }}
{{- $rules = concat $rules (list
  (list (not .existingSecret) "demoPartner.existingSecret is missing: create a Secret with client-secret and token-encryption-key, and name it.")
  (list (not .publicUrl) "demoPartner.publicUrl is missing: set it to the https origin that browsers reach the demo partner at.")
  (list (not $https) "demoPartner.enabled needs an https issuer: partners speak plain http only with their own machine.")
) }}
{{- end }}{{ end }}
{{- include "course-exchange.sentences" $rules }}
{{- end -}}

{{- define "course-exchange.validate.together" -}}
{{- $roles := .Values.postgres.roles }}
{{- $unwritten := "which are not in git: run `npx --yes pnpm@12 prepare` in the clone, or install a packaged chart." }}
{{- $operator := .Values.identity.operator.tlsSecret }}
{{- $audit := .Values.identity.auditExport }}
{{- with .Values.metrics }}
{{- include "course-exchange.sentences" (list
  (list (and $operator (not $roles.identityOperator.existingSecret)) "identity.operator.tlsSecret needs postgres.roles.identityOperator: without its login there is no operator port.")
  (list (and $.Values.designCatalog.feed.tlsSecret (not $roles.catalogFeed.existingSecret)) "designCatalog.feed.tlsSecret needs postgres.roles.catalogFeed: without its login there is no feed port.")
  (list (and $.Values.identity.keyRotation.tlsSecret (not $operator)) "identity.keyRotation.tlsSecret needs identity.operator.tlsSecret: without certificates the operator port cannot be reached from outside the pod.")
  (list (and $audit.tlsSecret (not $operator)) "identity.auditExport.tlsSecret needs identity.operator.tlsSecret: without certificates the operator port cannot be reached from outside the pod.")
  (list (ne (empty $audit.existingClaim) (empty $audit.tlsSecret)) "identity.auditExport needs both existingClaim and tlsSecret: the claim to write to, the certificate to read the audit log.")
  (list (and .prometheusRule.runbookUrl (not ($.Files.Glob "rules/*.yaml"))) (printf "metrics.prometheusRule.runbookUrl needs the chart's rules/, %s" $unwritten))
  (list (and .dashboards.enabled (not ($.Files.Glob "dashboards/*.json"))) (printf "metrics.dashboards.enabled needs the chart's dashboards/, %s" $unwritten))
  (list (and (ne .monitor.kind "none") $.Values.networkPolicy.enabled (not $.Values.networkPolicy.monitoring)) "metrics.monitor.kind needs networkPolicy.monitoring: name the peers that are Prometheus; otherwise it reaches no health port.")
) }}
{{- end }}
{{- end -}}

{{/* Of each component's values: budgets that let no node be drained, and variables given twice. A name given twice breaks server-side apply;
     NAME beside NAME_FILE breaks the program. */}}
{{- define "course-exchange.validate.components" -}}
{{- $ports := include "course-exchange.ports" . | fromYaml }}
{{- range $key, $containers := include "course-exchange.components" . | fromYaml }}
{{- $values := include "course-exchange.values" (list $ $key) | fromJson }}
{{- if or (has $key (list "gateway" "identity" "designCatalog")) (and (eq $key "demoPartner") $.Values.demoPartner.enabled) }}
{{- with $values.podDisruptionBudget }}
{{- $pods := include "course-exchange.leastReplicas" $values | int }}
{{- $least := toString (get . "minAvailable") }}
{{- $share := trimSuffix "%" $least | float64 }}
{{- $stay := hasSuffix "%" $least | ternary (divf (mulf $share $pods) 100) $share | ceil | int }}
{{- $byLeast := hasKey . "minAvailable" }}
{{- include "course-exchange.sentences" (list
  (list (and .enabled $byLeast (gt $pods 1) (ge $stay $pods)) (printf "%s.podDisruptionBudget.minAvailable is %s: it leaves none of %d pods to go, so that no node could be drained; lower it." $key $least $pods))
  (list (and .enabled (not $byLeast) (regexMatch "^0+%?$" (toString .maxUnavailable))) (printf "%s.podDisruptionBudget.maxUnavailable is %v: no node could be drained; set it to 1 or more." $key .maxUnavailable))
) }}
{{- end }}
{{- end }}
{{- $set := list }}
{{- range $containers }}
{{- $context := dict "root" $ "component" . "values" $values "ports" (get $ports . | default dict) }}
{{- $env := dict "env" (include "course-exchange.programEnv" (list $context .)) "files" (include "course-exchange.files" (list $ .)) }}
{{- range $name, $_ := include "course-exchange.env" $env | fromYaml }}{{ $set = append $set (trimSuffix "_FILE" $name) }}{{ end }}
{{- end }}
{{- $own := list }}
{{- range $values.extraEnv }}
{{- include "course-exchange.sentences" (list
  (list (has (trimSuffix "_FILE" .name) $set) (printf "%s.extraEnv sets %s, which the chart sets: remove it and change the value that it comes from." $key .name))
  (list (has .name $own) (printf "%s.extraEnv sets %s twice: remove one of them." $key .name))
) }}
{{- $own = append $own .name }}
{{- end }}
{{- end }}
{{- end -}}

{{/* What production refuses. */}}
{{- define "course-exchange.validate.production" -}}
{{- if eq .Values.environment "production" }}
{{- $ends := "set ingress.tls.terminatedElsewhere if a load balancer ends TLS." }}
{{- $host := include "course-exchange.host" .Values.issuer }}
{{- include "course-exchange.sentences" (list
  (list .Values.demoPartner.enabled "demoPartner.enabled is refused in production: the demo partner belongs in a test environment.")
  (list .Values.migrations.seed.existingSecret "migrations.seed.existingSecret is refused in production: operators register partners with partnerctl.")
  (list (not .Values.internalTls.enabled) "internalTls.enabled must be true in production: tokens and passwords pass between the services.")
  (list (and .Values.postgres.roles.identityOperator.existingSecret (not .Values.identity.operator.tlsSecret)) "identity.operator.tlsSecret is missing in production: without certificates, anyone who enters the pod can change clients and users under any name; create a Secret as docs/install.md says and name it.")
  (list (not .Values.networkPolicy.enabled) "networkPolicy.enabled must be true in production: the services' ports are for one another only.")
  (list (not .Values.redis.existingSecret) "redis.existingSecret is missing: production refuses a Redis without a password.")
  (list (and (eq .Values.image.tag "latest") (not (and .Values.image.digests.gateway .Values.image.digests.identity (index .Values.image.digests "design-catalog")))) "image.tag is latest in production: name a version.")
  (list (and (ne .Values.gateway.service.type "ClusterIP") (not .Values.ingress.tls.terminatedElsewhere)) (printf "gateway.service.type is %s in production: it leads past the Ingress, without TLS; set it to ClusterIP, or %s" .Values.gateway.service.type $ends))
  (list (regexMatch "(^|\\.)(example|test|invalid|localhost|local)$|(^|\\.)example\\.(com|net|org)$|^[0-9.]+$" $host) "issuer is an example in production: set it to the address that partners will use.")
) }}
{{- /* A store on the pod's loopback address is a proxy in the pod, which speaks TLS with the store. The migration Job checks the connections
       that it makes, but pods of a tool that runs no hooks would not wait for it. */}}
{{- $unverified := ne .Values.postgres.tls.mode "verify-full" | ternary (list .Values.postgres.host .Values.postgres.readHost) list }}
{{- $plain := .Values.redis.tls.enabled | ternary list .Values.redis.hosts }}
{{- range $needed, $hosts := dict "postgres.tls.mode must be verify-full" $unverified "redis.tls.enabled must be true" $plain }}
{{- range compact $hosts }}{{ if not (regexMatch "^(localhost|127\\.[0-9.]+|\\[::1\\])(:[0-9]+)?$" .) }}
{{ $needed }} in production, because {{ . }} is another machine: only a proxy on the pod's loopback address needs no TLS.
{{- end }}{{ end }}
{{- end }}
{{- $names := dict "secrets.existingSecret" .Values.secrets.existingSecret "redis.existingSecret" .Values.redis.existingSecret "postgres.host" .Values.postgres.host }}
{{- range $role, $values := .Values.postgres.roles }}{{ $_ := set $names (printf "postgres.roles.%s.existingSecret" $role) $values.existingSecret }}{{ end }}
{{- range $name, $value := $names }}
{{- with regexFind "(?i)\\b(example|change-?me|demo)[0-9]*\\b" $value }}
{{ $name }} is an example in production (it contains {{ . }}): create one for this environment and name it.
{{- end }}
{{- end }}
{{- range $name := list "gateway" "identity" "designCatalog" "migrations" "tests" }}
{{- $values := include "course-exchange.values" (list $ $name) | fromJson }}
{{- $context := include "course-exchange.merged" (list $values.podSecurityContext $values.containerSecurityContext) | fromJson }}
{{- $is := dict }}
{{- range $field := list "readOnlyRootFilesystem" "runAsNonRoot" "runAsUser" "allowPrivilegeEscalation" "privileged" }}{{ $_ := set $is $field (get $context $field | toString) }}{{ end }}
{{- include "course-exchange.sentences" (list
  (list (ne $is.readOnlyRootFilesystem "true") (printf "%s has a writable root filesystem in production: set readOnlyRootFilesystem of its containerSecurityContext to true." $name))
  (list (or (ne $is.runAsNonRoot "true") (eq $is.runAsUser "0")) (printf "%s may run as root in production: set runAsNonRoot of its podSecurityContext to true, and no runAsUser to 0." $name))
  (list (or (ne $is.allowPrivilegeEscalation "false") (eq $is.privileged "true")) (printf "%s may gain privileges in production: set allowPrivilegeEscalation of its containerSecurityContext to false, and leave privileged out." $name))
  (list (and (not (has $name (list "migrations" "tests"))) (lt (include "course-exchange.leastReplicas" $values | int) 2)) (printf "%s has fewer than two pods in production: set %[1]s.replicas, or %[1]s.autoscaling.minReplicas, to 2 or more." $name))
) }}
{{- end }}
{{- end }}
{{- end -}}
