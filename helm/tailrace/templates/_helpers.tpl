{{/* Names and what several templates share. */}}

{{- define "tailrace.labels" -}}
app.kubernetes.io/name: tailrace
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* Of what the Prometheus operator reads: by labels it chooses what it takes. */}}
{{- define "tailrace.monitorLabels" -}}
{{ include "tailrace.labels" . }}
{{- with .Values.monitorLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Of one component: a list of the root and its name. */}}
{{- define "tailrace.selector" -}}
{app.kubernetes.io/name: tailrace, app.kubernetes.io/instance: {{ (index . 0).Release.Name }}, app.kubernetes.io/component: {{ index . 1 }}}
{{- end }}

{{- define "tailrace.podSecurity" -}}
runAsNonRoot: true
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "tailrace.containerSecurity" -}}
allowPrivilegeEscalation: false
capabilities: {drop: [ALL]}
{{- end }}

{{- define "tailrace.pullSecrets" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{/* Some of the passwords as a volume of a pod: a list of the root and their names. */}}
{{- define "tailrace.passwords" -}}
name: passwords
secret:
  secretName: {{ (index . 0).Values.passwordsSecret }}
  defaultMode: 0440
  items:
{{- range index . 1 }}
    - {key: {{ . }}, path: {{ . }} }
{{- end }}
{{- end }}

{{- define "tailrace.clickhouseHost" -}}
{{- if .Values.clickhouse.url -}}
{{- $url := urlParse .Values.clickhouse.url -}}
{{- $url.host -}}
{{- else -}}
clickhouse-{{ .Release.Name }}:8123
{{- end -}}
{{- end }}

{{- define "tailrace.clickhouseUrl" -}}
{{- .Values.clickhouse.url | default (printf "http://%s" (include "tailrace.clickhouseHost" .)) | trimSuffix "/" -}}
{{- end }}

{{/* One server of several: the lock of the migrations is a query, which only the server that runs it knows. */}}
{{- define "tailrace.migratedUrl" -}}
{{- .Values.clickhouse.url | default (printf "http://chi-%s-tailrace-0-0:8123" .Release.Name) | trimSuffix "/" -}}
{{- end }}

{{/* Name of the cluster, where it is more than one server. */}}
{{- define "tailrace.clickhouseCluster" -}}
{{- if .Values.clickhouse.url -}}
{{- .Values.clickhouse.cluster -}}
{{- else if gt (mul .Values.clickhouse.operator.replicas .Values.clickhouse.operator.shards) 1 -}}
tailrace
{{- end -}}
{{- end }}

{{/* Not empty where there is more than one shard. */}}
{{- define "tailrace.clickhouseSharded" -}}
{{- if .Values.clickhouse.url -}}
{{- if and .Values.clickhouse.sharded (not .Values.clickhouse.cluster) -}}
{{- fail "clickhouse.sharded needs clickhouse.cluster: its name in remote_servers" -}}
{{- end -}}
{{- .Values.clickhouse.sharded | ternary "sharded" "" -}}
{{- else if gt (int .Values.clickhouse.operator.shards) 1 -}}
sharded
{{- end -}}
{{- end }}

{{- define "tailrace.supersetUrl" -}}
{{- .Values.superset.url | default (printf "http://%s-superset:8088" .Release.Name) | trimSuffix "/" -}}
{{- end }}

{{/* A value of YAML as it was written: numbers come as floating point, and large ones would be 2e+07. */}}
{{- define "tailrace.text" -}}
{{- if kindIs "float64" . -}}
{{- if eq (floor .) . }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end }}
