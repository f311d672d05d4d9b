{{/* Names, labels and selectors of every object, and the addresses made from them. */}}

{{/* At most 39 characters: a CronJob's name may have 52, and `-key-rotation` has 13. */}}
{{- define "course-exchange.fullname" -}}
{{- $full := contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 39 | trimSuffix "-" -}}
{{- end -}}

{{/* Takes (list root component): gateway, identity, design-catalog, …; the release's own name for "". */}}
{{- define "course-exchange.name" -}}
{{- printf "%s-%s" (include "course-exchange.fullname" (first .)) (last .) | trimSuffix "-" -}}
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

{{/* The same as JSON: { matchLabels: … }. */}}
{{- define "course-exchange.labelSelector" -}}
{{- dict "matchLabels" (include "course-exchange.selector" . | fromYaml) | toJson -}}
{{- end -}}

{{/* Labels of a pod as JSON, of (list root component labels). They have no version, because a new label replaces every pod. */}}
{{- define "course-exchange.podLabels" -}}
{{- $own := include "course-exchange.selector" (list (first .) (index . 1)) | fromYaml -}}
{{- merge $own (dict "app.kubernetes.io/part-of" "course-exchange") (last . | default dict) (first .).Values.commonLabels | toJson -}}
{{- end -}}

{{/* `metadata` of every other object, of a dict: root, component, and optional name (by default the component's), labels and
     annotations. */}}
{{- define "course-exchange.metadata" -}}
{{- $chart := printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" -}}
{{- $more := dict "app.kubernetes.io/version" .root.Chart.AppVersion "app.kubernetes.io/managed-by" .root.Release.Service "helm.sh/chart" $chart -}}
metadata:
  name: {{ include "course-exchange.name" (list .root (hasKey . "name" | ternary .name .component)) }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "course-exchange.podLabels" (list .root .component .labels) | fromJson | merge $more | toYaml | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
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
