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
# A name with two dots is looked up without search domains. IPv4 and IPv6 use separate sockets, because a kernel may drop one of two
# queries on a socket. A lost query is repeated after a second.
dnsConfig:
  options:
    - { name: ndots, value: "2" }
    - { name: single-request-reopen }
    - { name: timeout, value: "1" }
    - { name: attempts, value: "3" }
{{- range $field := list "hostAliases" "nodeSelector" "tolerations" "affinity" }}
{{- with get $.values $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- if .replicated }}
{{- include "course-exchange.spread" . }}
{{- end }}
{{- end -}}

{{/* Spreads the pods of a Deployment if possible; none stays pending. */}}
{{- define "course-exchange.spread" -}}
{{- $selector := dict "matchLabels" (include "course-exchange.selector" (list .root .component) | fromYaml) -}}
{{- if not .values.affinity }}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm: { topologyKey: kubernetes.io/hostname, labelSelector: {{ toJson $selector }} }
{{- end }}
topologySpreadConstraints:
  {{- range .values.topologySpreadConstraints }}
  - {{ hasKey . "labelSelector" | ternary . (merge (dict "labelSelector" $selector) .) | toJson }}
  {{- else }}
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
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
