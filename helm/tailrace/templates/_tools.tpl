{{/* A pod of the tools image. Argument: a dict of root, component, arguments, passwords (names); optional: config (a secret
     with alerts.yaml), access (whether it reads access.yaml), health (a component of tailrace.deployment), port (of its metrics),
     web (a port that answers /health), certificate (a secret with tls.pem), clickhouse (whether it is a client), retention
     (whether it reads the policy), resources, and account (of Kafka). */}}
{{- define "tailrace.toolsPod" -}}
{{- $root := .root }}
{{- $retention := ternary (include "tailrace.retentionOfTools" $root) "" (default false .retention) }}
metadata:
  labels: {{ include "tailrace.selector" (list $root .component) }}
  {{- if and $retention (not .once) }}
  annotations: { {{- include "tailrace.retentionAnnotation" $root -}} }
  {{- end }}
spec:
  automountServiceAccountToken: false
  # Kubernetes would set variables TAILRACE_SUPERSET_… for the service tailrace-superset, which are not settings.
  enableServiceLinks: false
  {{- include "tailrace.pullSecrets" $root | nindent 2 }}
  {{- if .once }}
  restartPolicy: Never
  {{- end }}
  securityContext:
    {{- include "tailrace.podSecurity" $root | nindent 4 }}
    runAsUser: 10001
    fsGroup: 10001
  containers:
    - name: {{ .component }}
      image: {{ $root.Values.images.tools }}
      imagePullPolicy: {{ $root.Values.images.pullPolicy }}
      args:
        {{- range .arguments }}
        - {{ . | quote }}
        {{- end }}
      {{- $trust := ternary (include "tailrace.clickhouseTrust" $root) "" (default false .clickhouse) }}
      {{- if or .access $trust }}
      env:
        {{- if .access }}
        - {name: TAILRACE_ACCESS, value: /etc/tailrace/access.yaml}
        {{- end }}
        {{- with $trust }}
        - {{ . }}
        {{- end }}
      {{- end }}
      {{- with .health }}
      # A server that it needs and that is unavailable makes it unready. A restart would not help, and forget what it has not stored.
      readinessProbe: {exec: {command: [python, -m, tailrace.deployment, health, {{ . }}]}, periodSeconds: 60, timeoutSeconds: 20}
      livenessProbe:
        exec: {command: [python, -m, tailrace.deployment, health, {{ . }}, --alive]}
        initialDelaySeconds: 60
        periodSeconds: 60
        timeoutSeconds: 20
        failureThreshold: 5
      {{- end }}
      {{- with .port }}
      ports: [{name: metrics, containerPort: {{ . }}}]
      # Every scrape reads the ledger; a TCP probe has no cost.
      livenessProbe: {tcpSocket: {port: metrics}, periodSeconds: 30, failureThreshold: 5}
      {{- end }}
      {{- with .web }}
      ports: [{name: http, containerPort: {{ . }}}]
      readinessProbe: {httpGet: {path: /health, port: http, scheme: {{ ternary "HTTPS" "HTTP" (not (empty $.certificate)) }}}, periodSeconds: 10, timeoutSeconds: 10}
      # A ClickHouse that does not answer makes it unready. A restart would not help.
      livenessProbe: {tcpSocket: {port: http}, periodSeconds: 30, failureThreshold: 5}
      {{- end }}
      resources: {{- .resources | default (dict "requests" (dict "cpu" "50m" "memory" "128Mi") "limits" (dict "memory" "512Mi")) | toYaml | nindent 8 }}
      securityContext:
        {{- include "tailrace.containerSecurity" $root | nindent 8 }}
        readOnlyRootFilesystem: true
      volumeMounts:
        # A service needs the directory of its heartbeat only, a step the complete home directory.
        - {name: home, mountPath: /var/lib/tailrace{{ with .health }}/data/{{ . }}{{ end }}}
        - {name: tmp, mountPath: /tmp}
        {{- if .passwords }}
        - {name: passwords, mountPath: /run/secrets, readOnly: true}
        {{- end }}
        {{- if and .account (include "tailrace.kafkaFiles" $root) }}
        - {{ include "tailrace.kafkaMount" $root }}
        {{- end }}
        {{- if $trust }}
        - {{ include "tailrace.clickhouseMount" $root }}
        {{- end }}
        {{- if .certificate }}
        - {name: certificate, mountPath: /run/tls, readOnly: true}
        {{- end }}
        {{- with $retention }}
        - {{ . }}
        {{- end }}
        {{- if or .config .access }}
        - {name: configuration, mountPath: /etc/tailrace, readOnly: true}
        {{- end }}
  volumes:
    - {name: home, emptyDir: {}}
    - {name: tmp, emptyDir: {}}
    {{- if .passwords }}
    - {{- include "tailrace.passwords" (list $root .passwords) | nindent 6 }}
    {{- end }}
    {{- if and .account (include "tailrace.kafkaFiles" $root) }}
    - {{- include "tailrace.kafkaVolume" (list $root .account) | nindent 6 }}
    {{- end }}
    {{- if $trust }}
    - {{- include "tailrace.clickhouseVolume" $root | nindent 6 }}
    {{- end }}
    {{- if $retention }}
    - {{ include "tailrace.retentionVolume" $root }}
    {{- end }}
    {{- with .certificate }}
    - {name: certificate, secret: {secretName: {{ . }}, defaultMode: 0440, items: [{key: tls.pem, path: tls.pem}]}}
    {{- end }}
    {{- if .access }}
    - {name: configuration, configMap: {name: {{ $root.Release.Name }}-access}}
    {{- end }}
    {{- with .config }}
    - {name: configuration, secret: {secretName: {{ . }}}}
    {{- end }}
{{- end }}
