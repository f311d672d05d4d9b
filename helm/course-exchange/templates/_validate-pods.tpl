{{/* What values of pods cannot be together. One sentence each. */}}

{{- define "course-exchange.validate.rollouts" -}}
{{- $names := list "gateway" "identity" "designCatalog" }}
{{- if .Values.demoPartner.enabled }}{{ $names = append $names "demoPartner" }}{{ end }}
{{- range $name := $names }}
{{- $values := include "course-exchange.merged" (list $.Values.defaults (get $.Values $name)) | fromYaml }}
{{- $least := add (int $values.preStopSeconds) 20 }}
{{- if le (int $values.terminationGracePeriodSeconds) (int $least) }}
{{ $name }}.terminationGracePeriodSeconds is too short: it must be more than {{ $least }}, which is preStopSeconds and the 20 seconds that a process may take to stop.
{{- end }}
{{- if dig "autoscaling" "enabled" false $values }}
{{- if lt (int $values.autoscaling.maxReplicas) (int $values.autoscaling.minReplicas) }}
{{ $name }}.autoscaling.maxReplicas is less than minReplicas: raise it.
{{- end }}
{{- end }}
{{- if and $values.podDisruptionBudget.enabled (regexMatch "^0+%?$" (toString $values.podDisruptionBudget.maxUnavailable)) }}
{{ $name }}.podDisruptionBudget.maxUnavailable is {{ $values.podDisruptionBudget.maxUnavailable }}: no node could be drained; set it to 1 or more.
{{- end }}
{{- end }}
{{- end -}}

{{/* Templates of a component's environment and of its secret files, as YAML: a list for each container. */}}
{{- define "course-exchange.validate.environments" -}}
gateway: [[gateway.env]]
identity: [[identity.env, identity.files]]
designCatalog: [[designCatalog.env, designCatalog.files]]
migrations:
  - [migrations.identityEnv, migrations.identityFiles]
  - [migrations.catalogEnv, migrations.catalogFiles]
  - [migrations.seedEnv, migrations.seedFiles]
demoPartner: [[demoPartner.env, demoPartner.files]]
tests: [[tests.env]]
{{- end -}}

{{/* A name that is there twice breaks server-side apply, and NAME beside NAME_FILE the program. */}}
{{- define "course-exchange.validate.environmentVariables" -}}
{{- range $component, $containers := include "course-exchange.validate.environments" . | fromYaml }}
{{- $values := include "course-exchange.merged" (list $.Values.defaults (get $.Values $component | default dict)) | fromYaml }}
{{- $context := dict "root" $ "values" $values }}
{{- $set := list }}
{{- range $containers }}
{{- $texts := list (include (printf "course-exchange.%s" (first .)) $context) (include "course-exchange.commonEnv" $context) }}
{{- range rest . }}{{ $texts = append $texts (include "course-exchange.secretEnv" (include (printf "course-exchange.%s" .) $)) }}{{ end }}
{{- range $texts }}{{ range fromYamlArray . }}{{ $set = append $set (trimSuffix "_FILE" .name) }}{{ end }}{{ end }}
{{- end }}
{{- $names := list }}
{{- range $values.extraEnv }}
{{- if has (trimSuffix "_FILE" .name) $set }}
{{ $component }}.extraEnv names {{ .name }}, which the chart sets: leave it out and change the value that it is made from.
{{- else if has .name $names }}
{{ $component }}.extraEnv names {{ .name }} twice: leave one of them out.
{{- end }}
{{- $names = append $names .name }}
{{- end }}
{{- end }}
{{- end -}}

{{/* A label that is there twice is no YAML, and one that a selector reads must stay. */}}
{{- define "course-exchange.validate.labels" -}}
{{- $own := include "course-exchange.labels" (list (dict "Values" (omit .Values "commonLabels") "Chart" .Chart "Release" .Release) "any") | fromYaml }}
{{- $labels := dict "commonLabels" .Values.commonLabels "metrics.serviceMonitor.labels" ((.Values.metrics).serviceMonitor).labels "metrics.prometheusRule.labels" ((.Values.metrics).prometheusRule).labels "metrics.dashboards.labels" ((.Values.metrics).dashboards).labels "defaults.podLabels" .Values.defaults.podLabels }}
{{- range list "gateway" "identity" "designCatalog" "migrations" "demoPartner" "tests" }}
{{- $_ := set $labels (printf "%s.podLabels" .) (get (get $.Values . | default dict) "podLabels" | default dict) }}
{{- end }}
{{- range $name, $given := $labels }}
{{- range $key, $_ := $given }}
{{- if hasKey $own $key }}
{{ $name }} names {{ $key }}, which the chart sets: leave it out.
{{- else if and (ne $name "commonLabels") (hasKey $.Values.commonLabels $key) }}
{{ $name }} names {{ $key }}, as commonLabels does: leave it out in one of them.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
