{{/* Rules between the values of pods. */}}

{{- define "course-exchange.validate.dns" -}}
{{- range $name, $_ := include "course-exchange.validate.containers" . | fromYaml }}
{{- $values := include "course-exchange.values" (list $ $name) | fromJson }}
{{- if and (eq $values.dnsPolicy "None") (not $values.dnsConfig.nameservers) }}
{{ $name }}.dnsPolicy is None: name its servers in dnsConfig.nameservers.
{{- end }}
{{- end }}
{{- end -}}

{{- define "course-exchange.validate.rollouts" -}}
{{- $names := list "gateway" "identity" "designCatalog" }}
{{- if .Values.demoPartner.enabled }}{{ $names = append $names "demoPartner" }}{{ end }}
{{- range $name := $names }}
{{- $values := include "course-exchange.values" (list $ $name) | fromJson }}
{{- if dig "autoscaling" "enabled" false $values }}
{{- if lt (int $values.autoscaling.maxReplicas) (int $values.autoscaling.minReplicas) }}
{{ $name }}.autoscaling.maxReplicas is less than minReplicas: raise it.
{{- end }}
{{- end }}
{{- with $values.podDisruptionBudget }}
{{- $pods := include "course-exchange.leastReplicas" $values | int }}
{{- if and .enabled (hasKey . "minAvailable") (gt $pods 1) }}
{{- $share := trimSuffix "%" (toString .minAvailable) | float64 }}
{{- $stay := hasSuffix "%" (toString .minAvailable) | ternary (divf (mulf $share $pods) 100) $share | ceil | int }}
{{- if ge $stay $pods }}
{{ $name }}.podDisruptionBudget.minAvailable is {{ .minAvailable }}: it leaves none of {{ $pods }} pods to go, so that no node could be drained; lower it.
{{- end }}
{{- else if and .enabled (regexMatch "^0+%?$" (toString .maxUnavailable)) }}
{{ $name }}.podDisruptionBudget.maxUnavailable is {{ .maxUnavailable }}: no node could be drained; set it to 1 or more.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* What a component's containers read, by the key of its values. */}}
{{- define "course-exchange.validate.containers" -}}
gateway: [gateway]
identity: [identity]
designCatalog: [design-catalog]
migrations: [migrations.identity, migrations.design-catalog, migrations.seed]
demoPartner: [demo-partner]
tests: [contract-tests]
{{- end -}}

{{/* A name given twice breaks server-side apply; NAME beside NAME_FILE breaks the program. */}}
{{- define "course-exchange.validate.environmentVariables" -}}
{{- range $key, $containers := include "course-exchange.validate.containers" . | fromYaml }}
{{- $values := include "course-exchange.values" (list $ $key) | fromJson }}
{{- $set := list }}
{{- range $containers }}
{{- $ports := get (include "course-exchange.ports" $ | fromYaml) . | default dict }}
{{- $env := include (printf "course-exchange.%s.env" .) (dict "root" $ "component" . "values" $values "ports" $ports) }}
{{- $files := include (printf "course-exchange.%s.files" .) $ }}
{{- range $name, $_ := include "course-exchange.env" (dict "env" $env "files" $files) | fromYaml }}
{{- $set = append $set (trimSuffix "_FILE" $name) }}
{{- end }}
{{- end }}
{{- $names := list }}
{{- range $values.extraEnv }}
{{- if has (trimSuffix "_FILE" .name) $set }}
{{ $key }}.extraEnv sets {{ .name }}, which the chart sets: remove it and change the value that it comes from.
{{- else if has .name $names }}
{{ $key }}.extraEnv sets {{ .name }} twice: remove one of them.
{{- end }}
{{- $names = append $names .name }}
{{- end }}
{{- end }}
{{- end -}}

{{/* A key given twice is invalid YAML, and a label that a selector reads must stay. */}}
{{- define "course-exchange.validate.labels" -}}
{{- $own := include "course-exchange.labels" (list (dict "Values" (omit .Values "commonLabels") "Chart" .Chart "Release" .Release) "any") | fromYaml }}
{{- $labels := dict "commonLabels" .Values.commonLabels "metrics.monitor.labels" .Values.metrics.monitor.labels "metrics.prometheusRule.labels" .Values.metrics.prometheusRule.labels "metrics.dashboards.labels" .Values.metrics.dashboards.labels "defaults.podLabels" .Values.defaults.podLabels }}
{{- range list "gateway" "identity" "designCatalog" "migrations" "demoPartner" "tests" }}
{{- $_ := set $labels (printf "%s.podLabels" .) (get (get $.Values .) "podLabels" | default dict) }}
{{- end }}
{{- range $name, $given := $labels }}
{{- range $key, $_ := $given }}
{{- if hasKey $own $key }}
{{ $name }} has the label {{ $key }}, which the chart sets: remove it.
{{- else if and (ne $name "commonLabels") (hasKey $.Values.commonLabels $key) }}
{{ $name }} has the label {{ $key }}, as commonLabels does: remove it from one of them.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
