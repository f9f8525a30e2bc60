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

{{/* A regular expression of the components whose pods run all the time, of all templates. */}}
{{- define "tailrace.components" -}}
api|callbacks|capture|collector|delivery|detect|facts|forwarding|metrics|normalize|pull|superset|transparency|witness
{{- end }}

{{/* The pods of an operator, as peers of a NetworkPolicy. Argument: its namespace and labels. */}}
{{- define "tailrace.operatorPeers" -}}
{{- range .podLabels }}
- podSelector: {matchLabels: {{ toJson . }}}
  {{- with $.namespace }}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: {{ . }}}}
  {{- end }}
{{- end }}
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

{{/* The addresses of the operator's servers, one a line, if there are several. */}}
{{- define "tailrace.operatorServers" -}}
{{- $operator := .Values.clickhouse.operator -}}
{{- if and (not .Values.clickhouse.url) (include "tailrace.clickhouseCluster" .) -}}
{{- range $shard := until (int $operator.shards) -}}
{{- range $replica := until (int $operator.replicas) }}
http://chi-{{ $.Release.Name }}-tailrace-{{ $shard }}-{{ $replica }}:8123
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The addresses of all servers, one a line, if there are several. Argument: a list of the root and the addresses of an external one. */}}
{{- define "tailrace.clickhouseServers" -}}
{{- $root := index . 0 -}}
{{- if $root.Values.clickhouse.url -}}
{{- join "\n" (index . 1 | default $root.Values.clickhouse.servers) -}}
{{- else -}}
{{- include "tailrace.operatorServers" $root -}}
{{- end -}}
{{- end }}

{{/* The addresses of the servers on which the migrations run in order, one a line. Empty: on one server, or ON CLUSTER. */}}
{{- define "tailrace.migratedServers" -}}
{{- if .Values.clickhouse.servers -}}
{{- join "\n" .Values.clickhouse.servers -}}
{{- else if not .Values.clickhouse.onCluster -}}
{{- include "tailrace.operatorServers" . -}}
{{- end -}}
{{- end }}

{{/* Options of a step that changes every server of ClickHouse, one a line. */}}
{{- define "tailrace.serverOptions" -}}
{{- $servers := include "tailrace.migratedServers" . | trim }}
{{- range splitList "\n" ($servers | default (include "tailrace.migratedUrl" .)) }}
--clickhouse
{{ . }}
{{- end }}
{{- if $servers }}
--replicated
{{- end }}
{{- with include "tailrace.clickhouseCluster" . }}
--cluster
{{ . }}
{{- end }}
{{- if include "tailrace.clickhouseSharded" . }}
--sharded
{{- end }}
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

{{/* The address of Superset in links, for people. */}}
{{- define "tailrace.dashboardsUrl" -}}
{{- $ingress := .Values.superset.ingress -}}
{{- if and $ingress.enabled .Values.superset.enabled (not .Values.superset.url) -}}
{{- printf "%s://%s" (ternary "https" "http" .Values.superset.https) $ingress.host -}}
{{- else -}}
{{- include "tailrace.supersetUrl" . -}}
{{- end -}}
{{- end }}

{{/* The number of bytes of a quantity, such as 1.5Ti. */}}
{{- define "tailrace.bytes" -}}
{{- $unit := get (dict "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776) (regexFind "[MGT]i$" .) -}}
{{- mulf (regexFind "^[0-9.]+" . | float64) $unit | int64 -}}
{{- end }}

{{/* A YAML value as text. Helm reads numbers as floating point and would print large ones as 2e+07. */}}
{{- define "tailrace.text" -}}
{{- if kindIs "float64" . -}}
{{- if eq (floor .) . }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end }}
