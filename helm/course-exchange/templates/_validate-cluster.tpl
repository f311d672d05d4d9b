{{/* What only a cluster knows. Under `helm template`, a client's dry run and tools that render first, `lookup` finds nothing:
     then nothing is refused here, and nothing rendered differently. */}}

{{/* Pods of a missing Secret wait for it until Helm's time is over; here it is said at once. */}}
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

{{/* Whether there is a cluster to ask. Helm keeps releases as Secrets, so it may list them; an account that every namespace has
     tells one without any. */}}
{{- define "course-exchange.cluster.answers" -}}
{{- $secrets := lookup "v1" "Secret" .Release.Namespace "" -}}
{{- if get $secrets "items" -}}
true
{{- else if and .Values.defaults.serviceAccount.create (lookup "v1" "ServiceAccount" .Release.Namespace "default") -}}
true
{{- end -}}
{{- end -}}

{{/* Keys by Secret, as YAML: of those without which the migration Job or a pod does not start, keys do not rotate, or an Ingress shows
     the controller's own certificate. Not that of `helm test`: its partner is registered in what is installed. */}}
{{- define "course-exchange.cluster.neededSecrets" -}}
{{- $needed := dict -}}
{{- $programs := list "identity" "design-catalog" "migrations.identity" "migrations.design-catalog" "migrations.seed" -}}
{{- if .Values.demoPartner.enabled }}{{ $programs = append $programs "demo-partner" }}{{ end -}}
{{- range $programs -}}
{{- range include (printf "course-exchange.%s.files" .) $ | fromYamlArray -}}
{{- if .secret }}{{ $_ := set $needed .secret (append (get $needed .secret | default list) .key) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- range list .Values.ingress (.Values.demoPartner.enabled | ternary .Values.demoPartner.ingress dict) -}}
{{- /* cert-manager makes one for an Ingress that its annotations name. */ -}}
{{- if and .enabled $.Values.ingress.tls.enabled .tls.existingSecret (not (regexMatch "cert-manager\\.io/|kubernetes\\.io/tls-acme" (toJson .annotations))) -}}
{{- $_ := set $needed .tls.existingSecret (concat (get $needed .tls.existingSecret | default list) (list "tls.crt" "tls.key")) -}}
{{- end -}}
{{- end -}}
{{- $certificates := include "course-exchange.operatorJobs" . | fromYaml | values -}}
{{- if and .Values.internalTls.enabled (not .Values.internalTls.certManager.issuerRef) -}}
{{- $certificates = concat $certificates (include "course-exchange.tlsSecrets" . | fromYaml | values) -}}
{{- end -}}
{{- range $certificates }}{{ $_ := set $needed . (list "tls.crt" "tls.key" "ca.crt") }}{{ end -}}
{{- toYaml $needed -}}
{{- end -}}

{{/* `replicas` of a Deployment that an autoscaler rules, of its context; empty where the manifest says none.
     Helm patches by three manifests. A field of the new one is set, to what was found when the upgrade began, whatever the
     autoscaler has made while the migrations ran. One of the former that is not in the new one is removed, and Kubernetes
     falls back to one pod. One in neither is the autoscaler's. So:
     - Installed with an autoscaler: never said. The autoscaler carries an annotation, by which the next upgrade knows it.
     - Turned on: the former manifest says it, and each from then on, for none can leave it out.
     - Turned off: the values say it, and the autoscaler goes with its annotation.
     - Rendered without a cluster: never said; turned on like that, it falls to one (docs/install.md). */}}
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
