{{/*
Secrets are files, because a pod sees a changed file and never a changed variable. The volume is mounted as a whole: a
file that is mounted alone stays the old one.
*/}}

{{/*
Keys of existingSecret that a process gets as files, as a JSON object {"keys": […]}. Call with
(dict "root" $ "isMigration" BOOLEAN). The owner of the tables is for migrations only, which need nothing but databases.
*/}}
{{- define "hoplog.secretKeys" -}}
{{- $values := .root.Values -}}
{{- $given := dict -}}
{{- if $values.postgres.bundled }}{{ $_ := merge $given (dict "DATABASE_URL" true "DATABASE_OWNER_URL" true) }}{{ end -}}
{{- if $values.kafka.bundled }}{{ $_ := set $given "KAFKA_PASSWORD" true }}{{ end -}}
{{- $asked := merge (dict) $values.secretKeys -}}
{{- if $values.kafka.saslMechanism }}{{ $_ := set $asked "KAFKA_PASSWORD" true }}{{ end -}}
{{- if $values.clickhouse.bundled }}{{ $_ := set $given "CLICKHOUSE_URL" true }}{{ end -}}
{{- range without $values.clickhouse.replicas "main" -}}
{{- $_ := set (ternary $given $asked $values.clickhouse.bundled) (include "hoplog.clickhouseUrl" .) true -}}
{{- end -}}
{{- $keys := list -}}
{{- range $key, $has := $asked -}}
{{- $isElsewhere := or (hasKey $given $key) (hasKey $values.settings (printf "%s_FILE" $key)) -}}
{{- if and $has (not $isElsewhere) (include "hoplog.isFor" (dict "isMigration" $.isMigration "name" $key)) -}}
{{- $keys = append $keys $key -}}
{{- end -}}
{{- end -}}
{{- dict "keys" $keys | toJson -}}
{{- end }}

{{/* Not empty if a process of this kind gets the secret with this name. */}}
{{- define "hoplog.isFor" -}}
{{- if .isMigration -}}
{{- if or (hasPrefix "DATABASE_" .name) (hasPrefix "CLICKHOUSE_" .name) }}yes{{ end -}}
{{- else if not (hasPrefix "DATABASE_OWNER_" .name) }}yes{{ end -}}
{{- end }}

{{/* The settings of values, and where the files of secrets are. Call as hoplog.secretKeys. */}}
{{- define "hoplog.env.given" -}}
{{- range $key := (include "hoplog.secretKeys" . | fromJson).keys }}
- { name: {{ $key }}_FILE, value: /etc/hoplog/secrets/{{ $key }} }
{{- end }}
{{- if and .root.Values.kafka.bundled (not .isMigration) (not (hasKey .root.Values.settings "KAFKA_PASSWORD_FILE")) }}
- { name: KAFKA_PASSWORD_FILE, value: /etc/hoplog/secrets/KAFKA_PASSWORD }
{{- end }}
{{- range $name, $value := .root.Values.settings }}
{{- if or (not (hasSuffix "_FILE" $name)) (include "hoplog.isFor" (dict "isMigration" $.isMigration "name" $name)) }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}
{{- include "hoplog.extraEnv" .root }}
{{- end }}

{{/* The volume with these files; empty without any. Call as hoplog.secretKeys. */}}
{{- define "hoplog.secretsVolume" -}}
{{- $keys := (include "hoplog.secretKeys" . | fromJson).keys -}}
{{- $isOfStrimzi := and .root.Values.kafka.bundled (not .isMigration) -}}
{{- if or $keys $isOfStrimzi -}}
- name: secrets
  projected:
    # 0440: the pod's group is that of the process (fsGroup).
    defaultMode: 288
    sources:
      {{- if $keys }}
      - secret:
          name: {{ .root.Values.existingSecret | quote }}
          items:
            {{- range $keys }}
            - { key: {{ . }}, path: {{ . }} }
            {{- end }}
      {{- end }}
      {{- if $isOfStrimzi }}
      # Strimzi creates this Secret for the KafkaUser.
      - secret: { name: {{ include "hoplog.fullname" .root }}, items: [{ key: password, path: KAFKA_PASSWORD }] }
      {{- end }}
{{- end }}
{{- end }}

{{/* Where it is mounted. Call as hoplog.secretKeys. */}}
{{- define "hoplog.secretsMount" -}}
{{- if include "hoplog.secretsVolume" . -}}
- { name: secrets, mountPath: /etc/hoplog/secrets, readOnly: true }
{{- end }}
{{- end }}
