{{/* A component's values: those of `defaults`, and over them its own. */}}

{{/* Of (list below above), as YAML: maps become one, everything else of above takes the place of below's. Sprig's own
     merge would keep `true` where above says `false`, and 3 where it says 0. */}}
{{- define "course-exchange.merged" -}}
{{- $merged := deepCopy (first .) -}}
{{- range $key, $value := last . -}}
{{- $under := get $merged $key -}}
{{- if and (kindIs "map" $value) (kindIs "map" $under) -}}
{{- $value = include "course-exchange.merged" (list $under $value) | fromYaml -}}
{{- end -}}
{{- $_ := set $merged $key $value -}}
{{- end -}}
{{- toYaml $merged -}}
{{- end -}}

{{/* Fewest pods that the values promise, of a component's values. */}}
{{- define "course-exchange.leastReplicas" -}}
{{- dig "autoscaling" "enabled" false . | ternary (dig "autoscaling" "minReplicas" 1 .) (get . "replicas") | int -}}
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
