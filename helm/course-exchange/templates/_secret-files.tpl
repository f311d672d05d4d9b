{{/* Secrets reach a program as files alone: a changed Secret changes the file, and no process list shows it.
     A list of secret files is YAML: each item has `path`, the Secret's name `secret` and its `key`. An item whose path
     is the name of a setting is read through NAME_FILE. */}}

{{- define "course-exchange.secretsDirectory" -}}/run/course-exchange/secrets{{- end -}}

{{/* NAME_FILE for each file that is a setting; of a list of secret files. */}}
{{- define "course-exchange.secretEnv" -}}
{{- range fromYamlArray . }}
{{- if not (contains "." .path) }}
- name: {{ .path }}_FILE
  value: {{ include "course-exchange.secretsDirectory" $ }}/{{ .path }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The volume `name` with the files `files`. Mode 0440: the account of the pod reads it through fsGroup. */}}
{{- define "course-exchange.secretVolume" -}}
- name: {{ .name }}
  projected:
    defaultMode: 288
    sources:
      {{- range fromYamlArray .files }}
      - secret:
          name: {{ .secret }}
          items:
            - key: {{ .key }}
              path: {{ .path }}
      {{- end }}
{{- end -}}

{{- define "course-exchange.secretMount" -}}
- name: {{ . }}
  mountPath: {{ include "course-exchange.secretsDirectory" . }}
  readOnly: true
{{- end -}}
