{{/* What only a cluster knows. Without one (`helm template`, GitOps tools), `lookup` finds nothing: nothing is refused here, and
     only the names of Jobs are others (_jobs.tpl). */}}

{{/* Pods would wait for a missing Secret until Helm's timeout. */}}
{{- define "course-exchange.validate.secrets" -}}
{{- if eq (include "course-exchange.cluster.answers" .) "true" }}
{{- $coming := toJson .Values.extraObjects }}
{{- range $name, $keys := include "course-exchange.cluster.neededSecrets" . | fromYaml }}
{{- $found := lookup "v1" "Secret" $.Release.Namespace $name }}
{{- $missing := list }}
{{- range $keys | uniq | sortAlpha }}
{{- if not (hasKey (get $found "data" | default dict) .) }}{{ $missing = append $missing . }}{{ end }}
{{- end }}
{{- if contains (quote $name) $coming }}
{{- else if not $found }}
Secret {{ $name }} is missing in namespace {{ $.Release.Namespace }}: run deploy/kubernetes/prepare.sh with FULLNAME={{ include "course-exchange.fullname" $ }}, or create it with {{ join " and " $missing }}, as docs/install.md says.
{{- else if $missing }}
Secret {{ $name }} in namespace {{ $.Release.Namespace }} has no {{ join " and no " $missing }}: add it, or name the key that it has in the values.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* While pods are replaced both would serve: tokens of one are refused by the other, or a copy accepts what is spent. */}}
{{- define "course-exchange.validate.sameRedis" -}}
{{- $running := lookup "apps/v1" "Deployment" .Release.Namespace (include "course-exchange.name" (list . "identity")) }}
{{- $generation := dig "metadata" "annotations" "course-exchange/redis-generation" "1" $running | int }}
{{- range dig "spec" "template" "spec" "containers" list $running }}
{{- $env := dict }}
{{- range .env }}{{ $_ := set $env .name (get . "value") }}{{ end }}
{{- if and (eq .name "identity") (get $env "REDIS_URL") (le (int $.Values.redis.generation) $generation) }}
{{- $before := include "course-exchange.redis.name" $env }}
{{- if ne $before (include "course-exchange.redis.env" $ | fromYaml | include "course-exchange.redis.name") }}
redis is another than the release runs with ({{ $before }}): move to it as docs/recovery.md says, then set redis.generation to {{ add1 $generation }}; if it is the same Redis by other addresses, only set that.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Whether there is a cluster to ask. Helm stores releases as Secrets, so it may list them. A namespace without Secrets has an
     account. */}}
{{- define "course-exchange.cluster.answers" -}}
{{- $secrets := lookup "v1" "Secret" .Release.Namespace "" -}}
{{- if get $secrets "items" -}}
true
{{- else if and (not .Values.defaults.existingServiceAccount) (lookup "v1" "ServiceAccount" .Release.Namespace "default") -}}
true
{{- end -}}
{{- end -}}

{{/* Keys by Secret, as YAML: the Secrets that the Jobs, the pods and the Ingresses need. The Secret of `helm test` is none of them: its
     partner is registered after the installation. */}}
{{- define "course-exchange.cluster.neededSecrets" -}}
{{- $needed := dict -}}
{{- $programs := list "identity" "design-catalog" "migrations.identity" "migrations.design-catalog" "migrations.seed" -}}
{{- if .Values.demoPartner.enabled }}{{ $programs = append $programs "demo-partner" }}{{ end -}}
{{- range $programs -}}
{{- range include "course-exchange.files" (list $ .) | fromYamlArray -}}
{{- if .secret }}{{ $_ := set $needed .secret (append (get $needed .secret | default list) .key) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- /* By its annotation, cert-manager makes the certificates of Ingresses. */ -}}
{{- if and .Values.ingress.enabled (hasPrefix "https:" .Values.issuer) (not (regexMatch "cert-manager\\.io/|kubernetes\\.io/tls-acme" (toJson .Values.ingress.annotations))) -}}
{{- range list .Values.ingress.tls.existingSecret (.Values.demoPartner.enabled | ternary .Values.demoPartner.ingress.tls.existingSecret "") -}}
{{- if . }}{{ $_ := set $needed . (concat (get $needed . | default list) (list "tls.crt" "tls.key")) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- $certificates := include "course-exchange.operatorJobs" . | fromYaml | values -}}
{{- range and .Values.internalTls.enabled (not .Values.internalTls.certManager.issuerRef) | ternary (list "gateway" "identity" "design-catalog") list -}}
{{- $certificates = append $certificates (include "course-exchange.tlsSecret" (dict "root" $ "component" .)) -}}
{{- end -}}
{{- range $certificates }}{{ $_ := set $needed . (list "tls.crt" "tls.key" "ca.crt") }}{{ end -}}
{{- toYaml $needed -}}
{{- end -}}

{{/* `replicas` of a Deployment with an autoscaler, of its context; empty if the manifest has none. If one manifest has the field and the
     next has not, Helm removes it, and Kubernetes falls back to one pod. So:
     - Installed with an autoscaler: no manifest has it. An annotation of the autoscaler tells the next upgrade.
     - Turned on later: every manifest has it, with the number of pods when the upgrade begins.
     - Turned off: the values have it, and the autoscaler goes with its annotation.
     - Rendered without a cluster: never; turned on like that, it falls to one (docs/install.md#gitops). */}}
{{- define "course-exchange.cluster.replicas" -}}
{{- $namespace := .root.Release.Namespace -}}
{{- $name := include "course-exchange.name" (list .root .component) -}}
{{- $autoscaler := lookup "autoscaling/v2" "HorizontalPodAutoscaler" $namespace $name -}}
{{- if ne (dig "metadata" "annotations" "course-exchange/replicas" "" $autoscaler) "not-in-manifest" -}}
{{- with lookup "apps/v1" "Deployment" $namespace $name -}}
replicas: {{ max (int .spec.replicas) (int $.values.autoscaling.minReplicas) }}
{{- end -}}
{{- end -}}
{{- end -}}
