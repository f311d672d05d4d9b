{{/* Which image a container runs. */}}

{{/* Of (list root component image): component names the image, `image` is what its values say of it. */}}
{{- define "course-exchange.image" -}}
{{- $root := index . 0 -}}
{{- $own := default dict (index . 2) -}}
{{- $shared := $root.Values.image -}}
{{- $registry := default $shared.registry (dig "imageRegistry" "" (default dict $root.Values.global)) -}}
{{- $repository := default (printf "%s/%s" $shared.repository (index . 1)) $own.repository -}}
{{- $tag := default (default $root.Chart.AppVersion $shared.tag) $own.tag -}}
{{- if $registry }}{{ $registry }}/{{ end }}{{ $repository }}:{{ $tag }}{{ with $own.digest }}@{{ . }}{{ end }}
{{- end -}}

{{/* imagePullSecrets of a pod, with those of `global`, which names them by text or by map. */}}
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
