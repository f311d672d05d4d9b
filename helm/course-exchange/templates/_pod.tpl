{{/* What all pods have in common. A context is (dict root component values): values are the component's, merged. */}}

{{- define "course-exchange.podMetadata" -}}
{{- with .values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
labels:
  {{- include "course-exchange.podLabels" (list .root .component) | nindent 2 }}
  {{- with .values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* Everything of a pod but its containers and volumes. */}}
{{- define "course-exchange.podSpec" -}}
serviceAccountName: {{ include "course-exchange.serviceAccountName" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- include "course-exchange.imagePullSecrets" .root }}
securityContext:
  {{- toYaml .values.podSecurityContext | nindent 2 }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* For pods that stand alone. */}}
{{- define "course-exchange.affinity" -}}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Where the pods of a Deployment go: apart from one another where there is room, never pending for want of it. */}}
{{- define "course-exchange.placement" -}}
affinity:
  {{- if .values.affinity }}
  {{- toYaml .values.affinity | nindent 2 }}
  {{- else }}
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "course-exchange.selector" (list .root .component) | nindent 14 }}
  {{- end }}
topologySpreadConstraints:
  {{- $own := dict "matchLabels" (include "course-exchange.selector" (list .root .component) | fromYaml) }}
  {{- range .values.topologySpreadConstraints }}
  - {{ hasKey . "labelSelector" | ternary . (merge (dict "labelSelector" $own) .) | toYaml | nindent 4 | trim }}
  {{- else }}
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    # Pods of the version before do not count: they are about to leave.
    matchLabelKeys: [pod-template-hash]
    labelSelector:
      matchLabels:
        {{- include "course-exchange.selector" (list $.root $.component) | nindent 8 }}
  {{- end }}
  {{- end }}
{{- end -}}

{{/* The component's own account where one is made, the named one, or the namespace's. */}}
{{- define "course-exchange.serviceAccountName" -}}
{{- $account := default dict .values.serviceAccount -}}
{{- $own := $account.create | ternary (include "course-exchange.name" (list .root .component)) "default" -}}
{{- default $own $account.name -}}
{{- end -}}

{{- define "course-exchange.serviceAccount" -}}
{{- if .values.serviceAccount.create -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "course-exchange.serviceAccountName" . }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "course-exchange.labels" (list .root .component) | nindent 4 }}
  {{- with .values.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- end -}}
{{- end -}}
