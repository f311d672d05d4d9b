{{/* Names, labels and selectors of every object, and the addresses made from them. */}}

{{/* At most 39 characters: a CronJob's name may have 52, and `-key-rotation` has 13. */}}
{{- define "course-exchange.fullname" -}}
{{- $full := contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 39 | trimSuffix "-" -}}
{{- end -}}

{{/* Takes (list root component): gateway, identity, design-catalog, … */}}
{{- define "course-exchange.name" -}}
{{- printf "%s-%s" (include "course-exchange.fullname" (first .)) (last .) -}}
{{- end -}}

{{/* The name of a component's Service in the cluster's DNS, of (list root component). Certificates carry it. */}}
{{- define "course-exchange.serviceName" -}}
{{- $root := first . -}}
{{- printf "%s.%s.svc.%s" (include "course-exchange.name" .) $root.Release.Namespace $root.Values.clusterDomain -}}
{{- end -}}

{{/* Selects the pods of the whole release. */}}
{{- define "course-exchange.releaseSelector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Selects a component's pods, of (list root component). It has no version, because a Deployment's selector can never change. */}}
{{- define "course-exchange.selector" -}}
{{ include "course-exchange.releaseSelector" (first .) }}
app.kubernetes.io/component: {{ last . }}
{{- end -}}

{{/* Labels of a pod, of (list root component). They have no version, because a new label replaces every pod. */}}
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

{{/* Name, namespace and labels of an object, of (list root component) or (list root component name). */}}
{{- define "course-exchange.metadata" -}}
name: {{ include "course-exchange.name" . }}
namespace: {{ (first .).Release.Namespace }}
labels:
  {{- include "course-exchange.labels" (list (first .) (index . 1)) | nindent 2 }}
{{- end -}}

{{/* The same with the name as it stands, and more labels, of (list root component name labels). */}}
{{- define "course-exchange.labelledMetadata" -}}
name: {{ index . 2 }}
namespace: {{ (first .).Release.Namespace }}
labels:
  {{- include "course-exchange.labels" (list (first .) (index . 1)) | nindent 2 }}
  {{- with last . }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* `annotations` of an object, of a map; nothing if it is empty. */}}
{{- define "course-exchange.annotations" -}}
{{- with . -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* Host of an origin, without its port. */}}
{{- define "course-exchange.host" -}}
{{- (urlParse .).hostname -}}
{{- end -}}

{{/* Port of an origin. */}}
{{- define "course-exchange.port" -}}
{{- $url := urlParse . -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
{{- default (eq $url.scheme "https" | ternary "443" "80") $port -}}
{{- end -}}
