{{/* Secrets reach a program only as files: a changed Secret changes the file, and no process list shows it. `files` is a
     YAML list of { path, secret, key }: the file's name, the Secret and its key. A path without a dot is the name of a
     setting, which the program reads through NAME_FILE. */}}

{{- define "course-exchange.secretsDirectory" -}}/run/course-exchange/secrets{{- end -}}

{{/* The whole environment of a context with env and files: NAME_FILE for each of the files that is a setting. */}}
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
      - secret:
          name: {{ .secret }}
          items: [{ key: {{ .key }}, path: {{ .path }} }]
      {{- end }}
{{- end }}
{{- end -}}

{{/* Volumes of a pod with one container, of its context. `volumes` are further ones, as YAML. */}}
{{- define "course-exchange.volumes" -}}
{{- $volumes := include "course-exchange.secretVolume" (list "secrets" .files) | fromYamlArray -}}
{{- range $name, $secret := .certificates -}}
{{- $volumes = append $volumes (dict "name" $name "secret" (dict "secretName" $secret "defaultMode" 288)) -}}
{{- end -}}
{{- range $name, $folder := .scratch -}}
{{- $volumes = append $volumes (dict "name" $name "emptyDir" (pick $folder "sizeLimit")) -}}
{{- end -}}
{{- with concat $volumes (.values.extraVolumes | default list) -}}
volumes:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* The mounts of those. `secretVolume` is the volume of the secret files where it is not called `secrets`. */}}
{{- define "course-exchange.volumeMounts" -}}
{{- $mounts := list -}}
{{- if fromYamlArray .files -}}
{{- $mounts = append $mounts (dict "name" (default "secrets" .secretVolume) "mountPath" (include "course-exchange.secretsDirectory" .) "readOnly" true) -}}
{{- end -}}
{{- range $name, $_ := .certificates -}}
{{- $mounts = append $mounts (dict "name" $name "mountPath" (printf "/run/course-exchange/%s" $name) "readOnly" true) -}}
{{- end -}}
{{- range $name, $folder := .scratch -}}
{{- $mounts = append $mounts (dict "name" $name "mountPath" $folder.path) -}}
{{- end -}}
{{- with concat $mounts (.values.extraVolumeMounts | default list) -}}
volumeMounts:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}
