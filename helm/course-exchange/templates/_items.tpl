{{/* Lists that are put together from parts, some of which may be empty. */}}

{{/* YAML of a list, or nothing where it has no items. */}}
{{- define "course-exchange.listed" -}}
{{- with . }}{{ toYaml . }}{{ end }}
{{- end -}}

{{/* Of (list name parts): `name:` and the parts' items below it, or nothing at all. */}}
{{- define "course-exchange.items" -}}
{{- $items := list -}}
{{- range last . }}{{ with trim . }}{{ $items = append $items . }}{{ end }}{{ end -}}
{{- with $items -}}
{{ first $ }}:
  {{- join "\n" . | nindent 2 }}
{{- end }}
{{- end -}}
