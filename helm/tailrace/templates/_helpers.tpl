{{/* Names and shared definitions. */}}

{{- define "tailrace.labels" -}}
app.kubernetes.io/name: tailrace
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* Labels of resources for the Prometheus operator, which selects them by label. */}}
{{- define "tailrace.monitorLabels" -}}
{{ include "tailrace.labels" . }}
{{- with .Values.monitorLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Selector labels of a component. Argument: a list of the root and its name. */}}
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

{{/* A volume with selected passwords. Argument: a list of the root and their names. */}}
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

{{/* The port of an address of the form scheme://host or scheme://host:port. */}}
{{- define "tailrace.portOf" -}}
{{- $url := urlParse . -}}
{{- if contains ":" $url.host -}}
{{- last (splitList ":" $url.host) -}}
{{- else -}}
{{- ternary 443 80 (eq $url.scheme "https") -}}
{{- end -}}
{{- end }}

{{- define "tailrace.clickhouseHost" -}}
{{- if .Values.clickhouse.url -}}
{{- $url := urlParse .Values.clickhouse.url -}}
{{- contains ":" $url.host | ternary $url.host (printf "%s:%s" $url.host (include "tailrace.portOf" .Values.clickhouse.url)) -}}
{{- else -}}
clickhouse-{{ .Release.Name }}:8123
{{- end -}}
{{- end }}

{{/* Not empty if ClickHouse is reached over TLS. */}}
{{- define "tailrace.clickhouseEncrypts" -}}
{{- if hasPrefix "https://" .Values.clickhouse.url }}true{{ end -}}
{{- end }}

{{/* Not empty with a private authority of ClickHouse: the variable with which Python trusts it, beside the system's authorities. */}}
{{- define "tailrace.clickhouseTrust" -}}
{{- $authority := .Values.clickhouse.authority }}
{{- if or $authority.secretName $authority.configMapName }}
{{- if not (include "tailrace.clickhouseEncrypts" .) }}
{{- fail "clickhouse.authority needs an https address in clickhouse.url" }}
{{- end -}}
{name: SSL_CERT_FILE, value: /run/clickhouse/ca.crt}
{{- end }}
{{- end }}

{{- define "tailrace.clickhouseMount" -}}
{name: clickhouse-authority, mountPath: /run/clickhouse, readOnly: true}
{{- end }}

{{/* The volume with its certificate. */}}
{{- define "tailrace.clickhouseVolume" -}}
{{- $authority := .Values.clickhouse.authority -}}
name: clickhouse-authority
{{- if $authority.secretName }}
secret: {secretName: {{ $authority.secretName }}, defaultMode: 0440, items: [{key: {{ $authority.key }}, path: ca.crt}]}
{{- else }}
configMap: {name: {{ $authority.configMapName }}, items: [{key: {{ $authority.key }}, path: ca.crt}]}
{{- end }}
{{- end }}

{{- define "tailrace.clickhouseUrl" -}}
{{- .Values.clickhouse.url | default (printf "http://%s" (include "tailrace.clickhouseHost" .)) | trimSuffix "/" -}}
{{- end }}

{{/* The one server that runs migrations: their lock is a query, which is visible on its server only. */}}
{{- define "tailrace.migratedUrl" -}}
{{- .Values.clickhouse.url | default (printf "http://chi-%s-tailrace-0-0:8123" .Release.Name) | trimSuffix "/" -}}
{{- end }}

{{/* The servers of ClickHouse as words of tailrace.deployment, a JSON array. */}}
{{- define "tailrace.servers" -}}
{{- $words := list }}
{{- range .Values.clickhouse.servers | default (list (include "tailrace.migratedUrl" .)) }}
{{- $words = concat $words (list "--clickhouse" .) }}
{{- end }}
{{- if .Values.clickhouse.servers }}
{{- $words = append $words "--replicated" }}
{{- end }}
{{- with include "tailrace.clickhouseCluster" . }}
{{- $words = concat $words (list "--cluster" .) }}
{{- end }}
{{- if include "tailrace.clickhouseSharded" . }}
{{- $words = append $words "--sharded" }}
{{- end }}
{{- toJson $words -}}
{{- end }}

{{/* The service account of the Flink jobs. */}}
{{- define "tailrace.flinkAccount" -}}
{{- .Values.jobs.serviceAccount | default (printf "%s-flink" .Release.Name) -}}
{{- end }}

{{/* Name of the cluster, or empty for a single server. */}}
{{- define "tailrace.clickhouseCluster" -}}
{{- if .Values.clickhouse.url -}}
{{- .Values.clickhouse.cluster -}}
{{- else if gt (mul .Values.clickhouse.operator.replicas .Values.clickhouse.operator.shards) 1 -}}
tailrace
{{- end -}}
{{- end }}

{{/* Not empty with more than one shard. */}}
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

{{/* A YAML value as text. Helm reads numbers as floating point and would print large ones as 2e+07. */}}
{{- define "tailrace.text" -}}
{{- if kindIs "float64" . -}}
{{- if eq (floor .) . }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end }}
