{{/* Fluent Bit and the census as containers of a pod. Argument: a list of the root and the field with the instance name. */}}
{{- define "tailrace.collectorContainers" -}}
{{- $root := index . 0 }}
{{- $collector := $root.Values.collector }}
{{- $sidecar := eq (index . 1) "metadata.name" }}
- name: fluentbit
  image: {{ $root.Values.images.fluentBit }}
  imagePullPolicy: {{ $root.Values.images.pullPolicy }}
  command: [/fluent-bit/bin/fluent-bit, -c, /etc/tailrace/fluent-bit/tailrace.conf]
  env:
    {{- include "tailrace.collectorEnvironment" . | nindent 4 }}
    {{- include "tailrace.fluentBitEnvironment" $root | nindent 4 }}
  {{- include "tailrace.fluentBitProcess" (list $root $sidecar) | nindent 2 }}
  volumeMounts:
    - {name: tailrace-configuration, mountPath: /etc/tailrace/fluent-bit, readOnly: true}
    {{- if include "tailrace.kafkaFiles" $root }}
    - {{ include "tailrace.kafkaMount" $root }}
    {{- end }}
    - {name: tailrace-state, mountPath: /var/lib/tailrace}
    - {name: logs, mountPath: {{ $collector.directory }}, readOnly: true}
- name: census
  image: {{ $root.Values.images.tools }}
  imagePullPolicy: {{ $root.Values.images.pullPolicy }}
  command: [python, /opt/tailrace/collectors/census/census.py]
  env:
    {{- include "tailrace.collectorEnvironment" . | nindent 4 }}
    {{- if $collector.signing.secret }}
    # One key for each instance: a chain of signatures has one signer.
    - {name: TAILRACE_HOST, value: $(TAILRACE_INSTANCE)}
    - {name: TAILRACE_HOST_KEY, value: /etc/tailrace/keys/$(TAILRACE_INSTANCE).pem}
    - {name: TAILRACE_HEALTH_HOST, value: 127.0.0.1}
    - {name: TAILRACE_HEALTH_PORT, value: "12020"}
    {{- end }}
  resources: {requests: {cpu: 20m, memory: 32Mi}, limits: {memory: 128Mi}}
  securityContext: {{- include "tailrace.collectorSecurity" $sidecar | nindent 4 }}
  volumeMounts:
    {{- if $collector.signing.secret }}
    - {name: tailrace-keys, mountPath: /etc/tailrace/keys, readOnly: true}
    {{- end }}
    - {name: tailrace-state, mountPath: /var/lib/tailrace}
    - {name: logs, mountPath: {{ $collector.directory }}, readOnly: true}
{{- if $collector.repair.enabled }}
{{ include "tailrace.collectorRepair" . }}
{{- end }}
{{- end }}

{{/* Ships missing bytes of this pod's logs again. Arguments as above. */}}
{{- define "tailrace.collectorRepair" -}}
{{- $root := index . 0 }}
{{- $collector := $root.Values.collector }}
- name: repair
  image: {{ $root.Values.images.tools }}
  imagePullPolicy: {{ $root.Values.images.pullPolicy }}
  command:
    - sh
    - -euc
    # The list of logs contains the name of the instance, which only the pod knows.
    - sed "s|@INSTANCE@|$TAILRACE_INSTANCE|" /etc/tailrace/repair/sources.yaml > /tmp/sources.yaml; exec python -m "$@"
    - repair
  args:
    - tailrace.repair
    - --sources=/tmp/sources.yaml
    # The pod's name changes; a list is recorded under the name of its instance.
    - --host=$(TAILRACE_INSTANCE)
    {{- range include "tailrace.kafkaArguments" (list $root "backfill") | trim | splitList "\n" }}
    - {{ . | quote }}
    {{- end }}
    - --clickhouse={{ include "tailrace.clickhouseUrl" $root }}
    - --password-file=/run/secrets/clickhouse-repair
    - --heartbeat-file=/tmp/beat
  env:
    - {name: TAILRACE_INSTANCE, valueFrom: {fieldRef: {fieldPath: {{ index . 1 }}}} }
    {{- with include "tailrace.clickhouseTrust" $root }}
    - {{ . }}
    {{- end }}
  livenessProbe:
    # It writes the file after each look at the ledger and each shipped block.
    exec: {command: [sh, -c, 'test -n "$(find /tmp/beat -mmin -5)"']}
    initialDelaySeconds: 300
    periodSeconds: 60
    timeoutSeconds: 20
  resources: {{- $collector.repair.resources | toYaml | nindent 4 }}
  securityContext: {{- include "tailrace.collectorSecurity" (eq (index . 1) "metadata.name") | nindent 4 }}
  volumeMounts:
    - {name: tailrace-repair, mountPath: /etc/tailrace/repair, readOnly: true}
    - {name: tailrace-repair-tmp, mountPath: /tmp}
    - {name: passwords, mountPath: /run/secrets, readOnly: true}
    {{- with include "tailrace.retentionOfTools" $root }}
    - {{ . }}
    {{- end }}
    {{- if include "tailrace.clickhouseTrust" $root }}
    - {{ include "tailrace.clickhouseMount" $root }}
    {{- end }}
    {{- if include "tailrace.kafkaFiles" $root }}
    - {name: kafka-backfill, mountPath: /run/kafka, readOnly: true}
    {{- end }}
    - {name: logs, mountPath: {{ $collector.directory }}, readOnly: true}
{{- end }}

{{/* The private keys with which the census signs. Argument: the root. */}}
{{- define "tailrace.signingVolume" -}}
{name: tailrace-keys, secret: {secretName: {{ .Values.collector.signing.secret }}, defaultMode: 0440}}
{{- end }}

{{/* Its volumes. Argument: the root. */}}
{{- define "tailrace.repairVolumes" -}}
- {name: tailrace-repair, configMap: {name: {{ .Release.Name }}-repair}}
- {name: tailrace-repair-tmp, emptyDir: {}}
{{- if include "tailrace.retentionPolicy" . }}
- {{ include "tailrace.retentionVolume" . }}
{{- end }}
- {{- include "tailrace.passwords" (list . (list "clickhouse-repair")) | nindent 2 }}
{{- if include "tailrace.clickhouseTrust" . }}
- {{- include "tailrace.clickhouseVolume" . | nindent 2 }}
{{- end }}
{{- if include "tailrace.kafkaFiles" . }}
- {{- include "tailrace.kafkaVolume" (list . "backfill" "kafka-backfill") | nindent 2 }}
{{- end }}
{{- end }}

{{/* Environment of both containers. */}}
{{- define "tailrace.collectorEnvironment" -}}
{{- $root := index . 0 }}
{{- $collector := $root.Values.collector }}
- {name: TAILRACE_INSTANCE, valueFrom: {fieldRef: {fieldPath: {{ index . 1 }}}} }
- {name: TAILRACE_CLUSTER, value: {{ $collector.cluster | quote }} }
- {name: TAILRACE_TZ, value: {{ $collector.timeZone }} }
- {name: TAILRACE_CENSUS_SPOOL, value: /var/lib/tailrace/census/spool}
{{- range $kind, $file := $collector.logs }}
{{- if $file }}
- {name: TAILRACE_{{ upper $kind }}_NAME, value: {{ $kind }} }
- {name: TAILRACE_{{ upper $kind }}_PATH, value: {{ printf "%s/%s" $collector.directory $file | quote }} }
- {name: TAILRACE_{{ upper $kind }}_FORMAT, value: auto}
{{- end }}
{{- end }}
{{- end }}

{{/* Creates the directories that both containers write to. Argument: a list of the root, and whether they are on a node, where
     the collector's user must own them. */}}
{{- define "tailrace.collectorInit" -}}
{{- $root := index . 0 }}
{{- $user := $root.Values.collector.runAsUser }}
- name: directories
  image: {{ $root.Values.images.tools }}
  imagePullPolicy: {{ $root.Values.images.pullPolicy }}
  command:
    - install
    - --directory
    - --mode=0700
    {{- if index . 1 }}
    - --owner={{ $user }}
    - --group={{ $user }}
    {{- end }}
    - /var/lib/tailrace/fluent-bit
    # The census makes its spool there. This step could not: it may not enter a directory of another user.
    - /var/lib/tailrace/census
  resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 64Mi}}
  securityContext:
    {{- if index . 1 }}
    # Only this step runs as root, because root owns the directory of the node.
    runAsUser: 0
    runAsNonRoot: false
    allowPrivilegeEscalation: false
    capabilities: {drop: [ALL], add: [CHOWN, FOWNER]}
    readOnlyRootFilesystem: true
    {{- else }}
    {{- include "tailrace.collectorSecurity" true | nindent 4 }}
    {{- end }}
  volumeMounts: [{name: tailrace-state, mountPath: /var/lib/tailrace}]
{{- end }}

{{/* Environment of Fluent Bit. */}}
{{- define "tailrace.fluentBitEnvironment" -}}
- {name: TAILRACE_COLLECTOR_DIR, value: /etc/tailrace/fluent-bit}
- {name: TAILRACE_STATE, value: /var/lib/tailrace/fluent-bit}
- {name: TAILRACE_KAFKA_BROKERS, value: {{ .Values.kafka.bootstrap | quote }}}
- {name: TAILRACE_KAFKA_SECURITY_PROTOCOL, value: {{ .Values.kafka.security.protocol }}}
- {name: TAILRACE_KAFKA_SASL_MECHANISM, value: {{ .Values.kafka.security.mechanism }}}
{{- if include "tailrace.kafkaAsks" . }}
- {name: TAILRACE_KAFKA_SASL_USERNAME, value: tailrace-collector}
- {name: TAILRACE_KAFKA_SASL_PASSWORD, valueFrom: {secretKeyRef: {name: tailrace-collector, key: password}}}
{{- end }}
{{- if and (include "tailrace.kafkaEncrypts" .) .Values.kafka.security.authoritySecret }}
- {name: TAILRACE_KAFKA_CA_FILE, value: /run/kafka/ca.crt}
{{- end }}
- {name: TAILRACE_HEALTH_HOST, value: 0.0.0.0}
- {name: TAILRACE_HEALTH_PORT, value: "12020"}
{{- end }}

{{/* What a container of the collector may do. Argument: whether it is in a pod of others, which may leave more open. */}}
{{- define "tailrace.collectorSecurity" -}}
{{ include "tailrace.containerSecurity" nil }}
readOnlyRootFilesystem: true
{{- if . }}
{{ include "tailrace.podSecurity" nil }}
{{- end }}
{{- end }}

{{/* Ports, probes and resources of Fluent Bit. Argument: a list of the root and whether it is in a pod of others. */}}
{{- define "tailrace.fluentBitProcess" -}}
ports: [{name: metrics, containerPort: 12020}]
livenessProbe: {httpGet: {path: /api/v1/health, port: metrics}, periodSeconds: 30, timeoutSeconds: 10, failureThreshold: 5}
readinessProbe: {httpGet: {path: /api/v1/uptime, port: metrics}, periodSeconds: 10, timeoutSeconds: 10}
resources: {{- (index . 0).Values.collector.resources | toYaml | nindent 2 }}
securityContext: {{- include "tailrace.collectorSecurity" (index . 1) | nindent 2 }}
{{- end }}
