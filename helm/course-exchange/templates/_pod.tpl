{{/* `template` of a Deployment or Job, of a context: root, component, values, `ports` if it serves, `replicated`; `steps` are init
     containers, and `containers` and `volumes` are by default those of its one program. */}}

{{- define "course-exchange.podTemplate" -}}
{{- $pod := pick .values "priorityClassName" "dnsConfig" "hostAliases" "nodeSelector" "affinity" -}}
{{- $_ := set $pod "imagePullSecrets" (include "course-exchange.imagePullSecrets" .root | fromYamlArray) -}}
{{- $_ := set $pod "tolerations" (include "course-exchange.tolerations" . | fromJsonArray) -}}
{{- $_ := set $pod "topologySpreadConstraints" (include "course-exchange.spread" . | fromYamlArray) -}}
{{- $_ := set $pod "initContainers" (concat (default list .values.initContainers) (default list .steps)) -}}
{{- $containers := .containers -}}
{{- $volumes := .volumes -}}
{{- if not $containers -}}
{{- $containers = include "course-exchange.container" . | fromYamlArray -}}
{{- $volumes = include "course-exchange.volumes" . | fromYamlArray -}}
{{- end -}}
{{- $_ := set $pod "containers" (empty .ports | ternary list .values.extraContainers | concat $containers) -}}
{{- $_ := set $pod "volumes" (concat $volumes (default list .values.extraVolumes)) -}}
template:
  metadata:
    {{- with .values.podAnnotations }}
    annotations:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    labels:
      {{- include "course-exchange.podLabels" (list .root .component .values.podLabels) | fromJson | toYaml | nindent 6 }}
  spec:
    serviceAccountName: {{ include "course-exchange.serviceAccountName" . }}
    automountServiceAccountToken: false
    enableServiceLinks: false
    securityContext:
      {{- toYaml .values.podSecurityContext | nindent 6 }}
    dnsPolicy: {{ .values.dnsPolicy }}
    {{- if .ports }}
    # A process may take 20 seconds to stop.
    terminationGracePeriodSeconds: {{ add 35 .values.preStopSeconds }}
    {{- else }}
    restartPolicy: Never
    {{- end }}
    {{- range $field, $value := $pod }}{{ if $value }}
    {{- dict $field $value | toYaml | nindent 4 }}
    {{- end }}{{ end }}
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
{{- toJson $tolerations -}}
{{- end -}}

{{/* Spreads the pods of a Deployment: over zones if possible, over nodes always, because a drained node's pods stay where they went
     until a rollout. A node whose taints they do not tolerate does not count, so that the only node that is left takes all. Pods of the
     previous version, which will end soon, do not count. */}}
{{- define "course-exchange.spread" -}}
{{- if .replicated -}}
{{- $selector := include "course-exchange.labelSelector" (list .root .component) -}}
{{- range .values.topologySpreadConstraints }}
- {{ hasKey . "labelSelector" | ternary . (merge (dict "labelSelector" (fromJson $selector)) .) | toJson }}
{{- else }}
{{- range $key, $unsatisfied := dict "topology.kubernetes.io/zone" "ScheduleAnyway" "kubernetes.io/hostname" "DoNotSchedule" }}
- maxSkew: 1
  topologyKey: {{ $key }}
  whenUnsatisfiable: {{ $unsatisfied }}
  nodeTaintsPolicy: Honor
  matchLabelKeys: [pod-template-hash]
  labelSelector: {{ $selector }}
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* The named ServiceAccount, else the component's if it has a Deployment, else the namespace's. */}}
{{- define "course-exchange.serviceAccountName" -}}
{{- $own := empty .ports | ternary "default" (include "course-exchange.name" (list .root .component)) -}}
{{- get .values "existingServiceAccount" | default $own -}}
{{- end -}}

{{/* Including those of `global`, each a text or a map. */}}
{{- define "course-exchange.imagePullSecrets" -}}
{{- $names := list -}}
{{- range concat (default list (dig "imagePullSecrets" list (default dict .Values.global))) .Values.imagePullSecrets -}}
{{- $names = append $names (kindIs "map" . | ternary (get (kindIs "map" . | ternary . dict) "name") .) -}}
{{- end -}}
{{- range uniq $names }}
- name: {{ . }}
{{- end }}
{{- end -}}
