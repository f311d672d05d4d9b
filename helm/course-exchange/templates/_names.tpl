{{/* Names and labels of every object. */}}

{{/* Short enough that the longest name made from it fits: a CronJob's has 52 letters at most, -key-rotation 13. */}}
{{- define "course-exchange.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{- default $full .Values.fullnameOverride | trunc 39 | trimSuffix "-" -}}
{{- end -}}

{{/* What pods listen on. */}}
{{- define "course-exchange.listenAddress" -}}
{{- default "0.0.0.0" .Values.listenAddress -}}
{{- end -}}

{{/* Of (list root component): gateway, identity, design-catalog, … */}}
{{- define "course-exchange.name" -}}
{{- printf "%s-%s" (include "course-exchange.fullname" (first .)) (last .) -}}
{{- end -}}

{{/* What selects the pods of the whole release. */}}
{{- define "course-exchange.releaseSelector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Of (list root component). A Deployment's selector cannot change: nothing with a version in it. */}}
{{- define "course-exchange.selector" -}}
{{ include "course-exchange.releaseSelector" (first .) }}
app.kubernetes.io/component: {{ last . }}
{{- end -}}

{{/* Labels of a pod, of (list root component). Nothing that changes without the pod: it would be replaced. */}}
{{- define "course-exchange.podLabels" -}}
{{ include "course-exchange.selector" . }}
app.kubernetes.io/part-of: course-exchange
{{- with (first .).Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Labels of every other object, of (list root component). */}}
{{- define "course-exchange.labels" -}}
{{- $root := first . -}}
{{ include "course-exchange.podLabels" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* name, namespace and labels, of (list root component). */}}
{{- define "course-exchange.metadata" -}}
name: {{ include "course-exchange.name" . }}
namespace: {{ (first .).Release.Namespace }}
labels:
  {{- include "course-exchange.labels" . | nindent 2 }}
{{- end -}}
