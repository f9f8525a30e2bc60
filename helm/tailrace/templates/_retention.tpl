{{/* sql/retention.yaml with the changes of retention.policy; empty without changes. */}}
{{- define "tailrace.retentionPolicy" -}}
{{- with .Values.retention.policy }}
{{- $policy := $.Files.Get "files/retention.yaml" | fromYaml }}
{{- range $table, $days := .days }}
{{- if not (hasKey $policy.days $table) }}
{{- fail (printf "retention.policy.days: sql/retention.yaml has no table %s" $table) }}
{{- end }}
{{- $_ := set $policy.days $table $days }}
{{- end }}
{{- if hasKey . "wait_for_archive" }}
{{- $_ := set $policy "wait_for_archive" .wait_for_archive }}
{{- end }}
{{- if not (kindIs "string" $policy.wait_for_archive) }}
{{- range $policy.wait_for_archive }}
{{- if not (hasKey $policy.days .) }}
{{- fail (printf "retention.policy.wait_for_archive: sql/retention.yaml has no table %s" .) }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $policy }}
{{- end }}
{{- end }}

{{/* Its mount, in place of the file of the image. Argument: a list of the root and the directory of sql/ in the image. */}}
{{- define "tailrace.retentionMount" -}}
{{- if include "tailrace.retentionPolicy" (index . 0) -}}
{name: retention, mountPath: {{ index . 1 }}/sql/retention.yaml, subPath: retention.yaml, readOnly: true}
{{- end }}
{{- end }}

{{- define "tailrace.retentionOfTools" -}}
{{ include "tailrace.retentionMount" (list . "/opt/tailrace") }}
{{- end }}

{{- define "tailrace.retentionVolume" -}}
{name: retention, configMap: {name: {{ .Release.Name }}-retention}}
{{- end }}

{{/* An annotation of pods that run all the time: a file that is mounted alone does not change in a running pod. */}}
{{- define "tailrace.retentionAnnotation" -}}
{{- with include "tailrace.retentionPolicy" . -}}
tailrace.io/retention: {{ sha256sum . }}
{{- end }}
{{- end }}

{{/* The options of the normalize job, which refuses entries that their table would delete at once. */}}
{{- define "tailrace.retentionOfJob" -}}
{{- $policy := include "tailrace.retentionPolicy" . | fromYaml }}
{{- if $policy }}
{{- range $table := list "query_events" "audit_events" "error_events" "otel_traces" }}
retention.{{ replace "_" "-" $table }}.days: {{ include "tailrace.text" (get $policy.days $table) }}
{{- end }}
{{- end }}
{{- end }}
