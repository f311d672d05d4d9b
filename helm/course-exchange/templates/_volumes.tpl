{{/* Secrets reach a program only as files, which follow a changed Secret. `files` is a YAML list of { path, secret, key }: the file's
     name, the Secret and its key. A path without a dot is the name of a setting, which the program reads through NAME_FILE. */}}

{{- define "course-exchange.secretsDirectory" -}}/run/course-exchange/secrets{{- end -}}

{{/* The whole environment of a context with env and files, with NAME_FILE for each file that is a setting. */}}
{{- define "course-exchange.env" -}}
{{ .env }}
{{- range fromYamlArray .files }}
{{- if not (contains "." .path) }}
{{ .path }}_FILE: {{ include "course-exchange.secretsDirectory" $ }}/{{ .path }}
{{- end }}
{{- end }}
{{- end -}}

{{/* A projected volume, of (list name files). Mode 0440: the pod's account reads it through fsGroup. */}}
{{- define "course-exchange.secretVolume" -}}
{{- with last . | fromYamlArray }}
- name: {{ first $ }}
  projected:
    defaultMode: 288
    sources:
      {{- range . }}
      - secret: { name: {{ .secret }}, items: [{ key: {{ .key }}, path: {{ .path }} }] }
      {{- end }}
{{- end }}
{{- end -}}

{{/* Volumes of a pod with one container, of its context. */}}
{{- define "course-exchange.volumes" -}}
{{- include "course-exchange.secretVolume" (list "secrets" .files) }}
{{- range $name, $secret := .certificates }}
- { name: {{ $name }}, secret: { secretName: {{ $secret }}, defaultMode: 288 } }
{{- end }}
{{- range $name, $folder := .scratch }}
- { name: {{ $name }}, emptyDir: { sizeLimit: {{ $folder.sizeLimit }} } }
{{- end }}
{{- end -}}

{{/* Mounts of these volumes. `secretVolume` names the volume of the secret files, by default `secrets`. */}}
{{- define "course-exchange.volumeMounts" -}}
{{- if fromYamlArray .files }}
- { name: {{ default "secrets" .secretVolume }}, mountPath: {{ include "course-exchange.secretsDirectory" . }}, readOnly: true }
{{- end }}
{{- range $name, $_ := .certificates }}
- { name: {{ $name }}, mountPath: /run/course-exchange/{{ $name }}, readOnly: true }
{{- end }}
{{- range $name, $folder := .scratch }}
- { name: {{ $name }}, mountPath: {{ $folder.path }} }
{{- end }}
{{- range .values.extraVolumeMounts }}
- {{ toJson . }}
{{- end }}
{{- end -}}
