{{/* The environment of every process. */}}
{{- define "hoplog.env" -}}
# All addresses of the pod, IPv4 and IPv6: probes, Services, and Prometheus come from outside.
- { name: HOST, value: "::" }
- { name: METRICS_HOST, value: "::" }
- { name: METRICS_PORT, value: "9464" }
- { name: INGEST_PORT, value: "8080" }
- { name: API_PORT, value: "3000" }
- { name: SHORT_URL, value: {{ required "shortUrl must be the origin of short links, such as https://go.example.com" .Values.shortUrl | quote }} }
- { name: BASE_URL, value: {{ required "baseUrl must be the origin of the API, such as https://api.example.com" .Values.baseUrl | quote }} }
- { name: PUBLIC_URL, value: {{ .Values.publicUrl | quote }} }
- { name: APP_URL, value: {{ .Values.appUrl | quote }} }
- { name: TRUST_PROXY, value: {{ .Values.trustProxy | quote }} }
- { name: BLOCKED_DOMAINS_FILE, value: /etc/hoplog/blocked/domains }
{{ include "hoplog.env.postgres" . }}
{{ include "hoplog.env.clickhouse" . }}
{{ include "hoplog.env.kafka" . }}
{{ include "hoplog.env.given" (dict "root" . "isMigration" false) }}
{{- end }}

{{- define "hoplog.env.postgres" -}}
{{- if .Values.postgres.bundled -}}
- { name: DATABASE_URL, value: "postgres://hoplog_service@{{ include "hoplog.fullname" . }}-postgres:5432/hoplog" }
{{- end }}
{{- end }}

{{/* The owner of the tables, for migrations only. */}}
{{- define "hoplog.env.postgresOwner" -}}
{{- if .Values.postgres.bundled -}}
- { name: DATABASE_OWNER_URL, value: "postgres://hoplog@{{ include "hoplog.fullname" . }}-postgres:5432/hoplog" }
{{- end }}
{{- end }}

{{- define "hoplog.env.clickhouse" -}}
{{- if .Values.clickhouse.bundled -}}
- { name: CLICKHOUSE_URL, value: "http://hoplog@clickhouse-{{ include "hoplog.fullname" . }}:8123" }
{{- range without .Values.clickhouse.replicas "main" }}
- { name: {{ include "hoplog.clickhouseUrl" . }}, value: "http://clickhouse-{{ include "hoplog.clickhouseName" (dict "root" $ "replica" .) }}:8123" }
{{- end }}
{{- end }}
- { name: CLICKHOUSE_REPLICAS, value: {{ join "," .Values.clickhouse.replicas | quote }} }
- { name: CLICKHOUSE_DATABASE, value: {{ .Values.clickhouse.database | quote }} }
{{- end }}

{{/* The setting with the address of a replica. Call with its name. */}}
{{- define "hoplog.clickhouseUrl" -}}
CLICKHOUSE_{{ if ne . "main" }}{{ upper . | replace "-" "_" }}_{{ end }}URL
{{- end }}

{{/* Name of a bundled replica's installation. Call with (dict "root" $ "replica" NAME). */}}
{{- define "hoplog.clickhouseName" -}}
{{ include "hoplog.fullname" .root }}{{ if ne .replica "main" }}-{{ .replica }}{{ end }}
{{- end }}

{{- define "hoplog.env.kafka" -}}
{{- $full := include "hoplog.fullname" . -}}
{{- with .Values.kafka -}}
- { name: KAFKA_PARTITIONS, value: {{ .partitions | quote }} }
- { name: KAFKA_REPLICATION, value: {{ .replication | quote }} }
- { name: KAFKA_RETENTION_HOURS, value: {{ .retentionHours | quote }} }
{{- if .bundled }}
- { name: KAFKA_BROKERS, value: "{{ $full }}-kafka-bootstrap:9093" }
- { name: KAFKA_TLS, value: "true" }
- { name: KAFKA_SASL_MECHANISM, value: scram-sha-512 }
- { name: KAFKA_USERNAME, value: {{ $full }} }
{{- else }}
- { name: KAFKA_BROKERS, value: {{ required "kafka.brokers must be addresses such as kafka-1:9092,kafka-2:9092, unless kafka.bundled is true" .brokers | quote }} }
- { name: KAFKA_TLS, value: {{ .tls | quote }} }
{{- if .saslMechanism }}
- { name: KAFKA_SASL_MECHANISM, value: {{ .saslMechanism }} }
- { name: KAFKA_USERNAME, value: {{ required "kafka.username must be set for kafka.saslMechanism" .username | quote }} }
{{- end }}
{{- end }}
{{- if include "hoplog.kafkaCa" $ }}
- { name: KAFKA_TLS_CA, value: /etc/hoplog/kafka/ca.crt }
{{- end }}
{{- end }}
{{- end }}

{{/*
How many links ingest holds in memory, by its limit: a link takes 550 bytes, and a quarter of the limit and 384 MiB stay
free. Empty without a limit, or with a setting of values.
*/}}
{{- define "hoplog.linksInMemory" -}}
{{- $limit := dig "limits" "memory" "" .Values.ingest.resources | toString -}}
{{- $unit := regexFind "[A-Za-z]*$" $limit -}}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- if and $limit (hasKey $units $unit) (not (hasKey .Values.settings "INGEST_LINKS_IN_MEMORY")) -}}
{{- $bytes := mulf (trimSuffix $unit $limit | float64) (get $units $unit | float64) -}}
{{- $thousands := divf (subf (mulf $bytes 0.75) 402653184) 550000 | floor | int64 -}}
{{- printf "%d" (mul 1000 (min 900000 (max 10 $thousands))) -}}
{{- end -}}
{{- end }}

{{/* Name of the Secret with the brokers' certificate authority; empty: none. */}}
{{- define "hoplog.kafkaCa" -}}
{{- if .Values.kafka.bundled -}}{{ include "hoplog.fullname" . }}-cluster-ca-cert
{{- else if .Values.kafka.tls -}}{{ .Values.kafka.caSecret }}
{{- end -}}
{{- end }}

{{- define "hoplog.volumeMounts" -}}
- { name: data, mountPath: /data }
- { name: tmp, mountPath: /tmp }
{{ include "hoplog.secretsMount" (dict "root" . "isMigration" false) }}
{{- include "hoplog.extraMounts" . }}
- { name: blocked-domains, mountPath: /etc/hoplog/blocked, readOnly: true }
{{- if include "hoplog.kafkaCa" . }}
- { name: kafka-ca, mountPath: /etc/hoplog/kafka, readOnly: true }
{{- end }}
{{- end }}

{{/* Mounts that values add to every container of Hoplog. */}}
{{- define "hoplog.extraMounts" -}}
{{- if .Values.caSecret }}
- { name: ca, mountPath: /etc/hoplog/ca, readOnly: true }
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Their volumes. */}}
{{- define "hoplog.extraVolumes" -}}
{{- with .Values.caSecret }}
- name: ca
  secret: { secretName: {{ . | quote }}, items: [{ key: ca.crt, path: ca.crt }] }
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Variables that values add to every container of Hoplog. Node.js reads the first when it starts. */}}
{{- define "hoplog.extraEnv" -}}
{{- if .Values.caSecret }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/hoplog/ca/ca.crt }
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "hoplog.volumes" -}}
- { name: tmp, emptyDir: {} }
{{ include "hoplog.secretsVolume" (dict "root" . "isMigration" false) }}
{{- include "hoplog.extraVolumes" . }}
- name: blocked-domains
  configMap: { name: {{ include "hoplog.fullname" . }}-blocked-domains }
{{- with include "hoplog.kafkaCa" . }}
- name: kafka-ca
  secret: { secretName: {{ . }}, items: [{ key: ca.crt, path: ca.crt }] }
{{- end }}
{{- end }}
