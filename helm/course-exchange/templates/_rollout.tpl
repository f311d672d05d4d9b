{{/* How a Deployment's pods follow one another, and how many there are; of a context (dict root component values). */}}

{{- define "course-exchange.rollout" -}}
{{- if not (dig "autoscaling" "enabled" false .values) }}
replicas: {{ int .values.replicas }}
{{- end }}
revisionHistoryLimit: {{ int .values.revisionHistoryLimit }}
minReadySeconds: {{ int .values.minReadySeconds }}
progressDeadlineSeconds: {{ int .values.progressDeadlineSeconds }}
strategy:
  type: RollingUpdate
  rollingUpdate:
    maxUnavailable: 0
    maxSurge: 1
selector:
  matchLabels:
    {{- include "course-exchange.selector" (list .root .component) | nindent 4 }}
{{- end -}}

{{/* Only where a second pod serves meanwhile: with one, a node could never be drained. */}}
{{- define "course-exchange.podDisruptionBudget" -}}
{{- if and .values.podDisruptionBudget.enabled (gt (include "course-exchange.leastReplicas" .values | int) 1) -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "course-exchange.metadata" (list .root .component) | nindent 2 }}
spec:
  maxUnavailable: {{ .values.podDisruptionBudget.maxUnavailable }}
  # A pod that serves nobody does not keep a node from being drained.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "course-exchange.selector" (list .root .component) | nindent 6 }}
{{- end -}}
{{- end -}}

{{- define "course-exchange.horizontalPodAutoscaler" -}}
{{- with .values.autoscaling }}{{ if .enabled -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  {{- include "course-exchange.metadata" (list $.root $.component) | nindent 2 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "course-exchange.name" (list $.root $.component) }}
  minReplicas: {{ int .minReplicas }}
  maxReplicas: {{ int .maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: {{ int .targetCPUUtilizationPercentage }}
  behavior:
    {{- toYaml .behavior | nindent 4 }}
{{- end }}{{ end -}}
{{- end -}}
