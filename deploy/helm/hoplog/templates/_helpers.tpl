{{/* At most 28 characters: a stream is named like its pod, such as hoplog-ingest-999, and has at most 40. */}}
{{- define "hoplog.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 28 | trimSuffix "-" -}}
{{- end }}

{{- define "hoplog.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "hoplog.selector" . }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Annotations of a resource. Call with (dict "root" $ "own" MAP). */}}
{{- define "hoplog.annotations" -}}
{{- with merge (dict) .own .root.Values.commonAnnotations }}
annotations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "hoplog.selector" -}}
app.kubernetes.io/name: hoplog
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "hoplog.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}
{{- else -}}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "hoplog.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "hoplog.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Where a pod runs. Call with (dict "root" $ "tier" NAME). */}}
{{- define "hoplog.placement" -}}
{{- $tier := index .root.Values .tier -}}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ range . }}
  - name: {{ . | quote }}{{ end }}
{{- end }}
{{- with .root.Values.serviceAccountName }}
serviceAccountName: {{ . | quote }}
{{- end }}
{{- with $tier.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with $tier.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $tier.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $tier.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- if has .tier (list "ingest" "api" "workers") }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: {{ .root.Values.spread.zones }}
    labelSelector: { matchLabels: { {{- include "hoplog.match" . -}} } }
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: {{ .root.Values.spread.hosts }}
    labelSelector: { matchLabels: { {{- include "hoplog.match" . -}} } }
{{- end }}
{{- end }}

{{/* Annotations of a tier's pods. Call with (dict "root" $ "tier" NAME). */}}
{{- define "hoplog.podAnnotations" -}}
{{- $scrape := dict -}}
{{- if .root.Values.monitoring.scrapeAnnotations -}}
{{- $scrape = dict "prometheus.io/scrape" "true" "prometheus.io/port" "9464" "prometheus.io/path" "/metrics" -}}
{{- end -}}
{{- with merge (dict) (index .root.Values .tier).podAnnotations $scrape }}{{ toYaml . }}{{ end -}}
{{- end }}

{{/* Labels of pods. Call with (dict "root" $ "component" NAME "own" MAP). */}}
{{- define "hoplog.podLabels" -}}
{{ include "hoplog.selector" .root }}
app.kubernetes.io/component: {{ .component }}
{{- with merge (dict) .own .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Labels of a tier's pods, by which Prometheus finds them. Call with (dict "root" $ "tier" NAME). */}}
{{- define "hoplog.tierLabels" -}}
{{- $own := merge (dict "hoplog.dev/metrics" "true") (index .root.Values .tier).podLabels -}}
{{ include "hoplog.podLabels" (dict "root" .root "component" .tier "own" $own) }}
{{- end }}

{{/* Type and load balancer of a Service, from its values. */}}
{{- define "hoplog.serviceType" -}}
type: {{ .type }}
{{- if ne .type "ClusterIP" }}
# Keeps the visitor's address, which country and city come from.
externalTrafficPolicy: Local
{{- end }}
{{- if eq .type "LoadBalancer" }}
{{- with .loadBalancerClass }}
loadBalancerClass: {{ . | quote }}
{{- end }}
{{- with .loadBalancerSourceRanges }}
loadBalancerSourceRanges: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* Labels of a tier's pods in one line. Call with (dict "root" $ "tier" NAME). */}}
{{- define "hoplog.match" -}}
app.kubernetes.io/name: hoplog, app.kubernetes.io/instance: {{ .root.Release.Name | quote }}, app.kubernetes.io/component: {{ .tier }}
{{- end }}

{{/* The probes of a tier on a port. A journal of gigabytes is read before the first response. */}}
{{- define "hoplog.probes" -}}
startupProbe:
  httpGet: { path: /health/live, port: {{ . }} }
  periodSeconds: 2
  failureThreshold: 300
livenessProbe:
  httpGet: { path: /health/live, port: {{ . }} }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /health/ready, port: {{ . }} }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end }}

{{/* The claim of a volume, from its size and storageClass. */}}
{{- define "hoplog.claim" -}}
accessModes: [ReadWriteOnce]
{{- with .storageClass }}
storageClassName: {{ . | quote }}
{{- end }}
resources: { requests: { storage: {{ .size }} } }
{{- end }}
