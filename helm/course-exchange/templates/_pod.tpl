{{/* A pod around its containers and volumes, of a context: root, component, values and `replicated`. */}}

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
dnsPolicy: {{ .values.dnsPolicy }}
{{- range $field := list "dnsConfig" "hostAliases" "nodeSelector" "affinity" }}
{{- with get $.values $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- include "course-exchange.tolerations" . }}
{{- if .replicated }}
{{ include "course-exchange.spread" . }}
{{- end }}
{{- end -}}

{{/* The pods' own tolerations, and those of a dead node for 30 s in a Deployment. One that covers such a taint replaces the chart's, as it
     replaces Kubernetes' 300 s. */}}
{{- define "course-exchange.tolerations" -}}
{{- $tolerations := .values.tolerations -}}
{{- range $key := empty .ports | ternary list (list "node.kubernetes.io/not-ready" "node.kubernetes.io/unreachable") -}}
{{- $own := false -}}
{{- range $.values.tolerations -}}
{{- if and (eq (get . "key" | default $key) $key) (eq (get . "effect" | default "NoExecute") "NoExecute") }}{{ $own = true }}{{ end -}}
{{- end -}}
{{- if not $own -}}
{{- $tolerations = append $tolerations (dict "key" $key "operator" "Exists" "effect" "NoExecute" "tolerationSeconds" 30) -}}
{{- end -}}
{{- end -}}
{{- with $tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Spreads the pods of a Deployment: over zones if possible, over nodes always, because a drained node's pods stay where they went
     until a rollout. A node whose taints they do not tolerate does not count, so that the only node that is left takes all. */}}
{{- define "course-exchange.spread" -}}
{{- $selector := dict "matchLabels" (include "course-exchange.selector" (list .root .component) | fromYaml) -}}
topologySpreadConstraints:
  {{- range .values.topologySpreadConstraints }}
  - {{ hasKey . "labelSelector" | ternary . (merge (dict "labelSelector" $selector) .) | toJson }}
  {{- else }}
  {{- range $key, $unsatisfied := dict "topology.kubernetes.io/zone" "ScheduleAnyway" "kubernetes.io/hostname" "DoNotSchedule" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: {{ $unsatisfied }}
    nodeTaintsPolicy: Honor
    # Pods of the previous version, which will end soon, do not count.
    matchLabelKeys: [pod-template-hash]
    labelSelector: {{ toJson $selector }}
  {{- end }}
  {{- end }}
{{- end -}}

{{/* The named ServiceAccount, else the component's if the chart creates it, else the namespace's. */}}
{{- define "course-exchange.serviceAccountName" -}}
{{- $account := default dict .values.serviceAccount -}}
{{- $own := dig "create" false $account | ternary (include "course-exchange.name" (list .root .component)) "default" -}}
{{- default $own $account.name -}}
{{- end -}}

{{/* Including those of `global`, each a text or a map. */}}
{{- define "course-exchange.imagePullSecrets" -}}
{{- $names := list -}}
{{- range concat (default list (dig "imagePullSecrets" list (default dict .Values.global))) .Values.imagePullSecrets -}}
{{- $names = append $names (kindIs "map" . | ternary (get (kindIs "map" . | ternary . dict) "name") .) -}}
{{- end -}}
{{- with uniq $names }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}
