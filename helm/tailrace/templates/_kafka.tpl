{{/* Kafka connections of pods. Each uses a credential of schemas/kafka-accounts.yaml: user tailrace-ACCOUNT, with the key
     `password` of the secret tailrace-ACCOUNT, as Strimzi creates it for a KafkaUser. */}}

{{- define "tailrace.kafkaEncrypts" -}}
{{- if has .Values.kafka.security.protocol (list "ssl" "sasl_ssl") }}true{{ end -}}
{{- end }}

{{- define "tailrace.kafkaAsks" -}}
{{- if hasPrefix "sasl_" .Values.kafka.security.protocol }}true{{ end -}}
{{- end }}

{{/* Not empty if a pod needs files for Kafka. */}}
{{- define "tailrace.kafkaFiles" -}}
{{- include "tailrace.kafkaAsks" . }}{{ if include "tailrace.kafkaEncrypts" . }}{{ .Values.kafka.security.authoritySecret }}{{ end -}}
{{- end }}

{{/* A volume with CA and password. Argument: a list of the root, the account and, if the pod has another, a name. */}}
{{- define "tailrace.kafkaVolume" -}}
{{- $root := index . 0 -}}
name: {{ if gt (len .) 2 }}{{ index . 2 }}{{ else }}kafka{{ end }}
projected:
  defaultMode: 0440
  sources:
    {{- if include "tailrace.kafkaAsks" $root }}
    - secret: {name: tailrace-{{ index . 1 }}, items: [{key: password, path: password}]}
    {{- end }}
    {{- if include "tailrace.kafkaEncrypts" $root }}
    {{- with $root.Values.kafka.security.authoritySecret }}
    - secret: {name: {{ . }}, items: [{key: ca.crt, path: ca.crt}]}
    {{- end }}
    {{- end }}
{{- end }}

{{- define "tailrace.kafkaMount" -}}
{name: kafka, mountPath: /run/kafka, readOnly: true}
{{- end }}

{{/* Arguments of a program of the tools, one per line. Argument: a list of the root and the account. */}}
{{- define "tailrace.kafkaArguments" -}}
{{- $root := index . 0 }}
{{- $security := $root.Values.kafka.security }}
--kafka={{ $root.Values.kafka.bootstrap }}
{{- if ne $security.protocol "plaintext" }}
--kafka-property=security.protocol={{ $security.protocol }}
{{- end }}
{{- if and (include "tailrace.kafkaEncrypts" $root) $security.authoritySecret }}
--kafka-property=ssl.ca.location=/run/kafka/ca.crt
{{- end }}
{{- if include "tailrace.kafkaAsks" $root }}
--kafka-property=sasl.mechanism={{ $security.mechanism }}
--kafka-property=sasl.username=tailrace-{{ index . 1 }}
--kafka-password-file=/run/kafka/password
{{- end }}
{{- end }}

{{/* Properties of librdkafka without the password, as JSON; empty without any. Argument: a list of the root and the account. */}}
{{- define "tailrace.kafkaJson" -}}
{{- $root := index . 0 }}
{{- $security := $root.Values.kafka.security }}
{{- $properties := dict }}
{{- if ne $security.protocol "plaintext" }}
{{- $_ := set $properties "security.protocol" $security.protocol }}
{{- end }}
{{- if and (include "tailrace.kafkaEncrypts" $root) $security.authoritySecret }}
{{- $_ := set $properties "ssl.ca.location" "/run/kafka/ca.crt" }}
{{- end }}
{{- if include "tailrace.kafkaAsks" $root }}
{{- $_ := set $properties "sasl.mechanism" $security.mechanism }}
{{- $_ := set $properties "sasl.username" (printf "tailrace-%s" (index . 1)) }}
{{- end }}
{{- if $properties }}{{ toJson $properties }}{{ end -}}
{{- end }}

{{/* Kafka keys of a job's configuration. Argument: a list of the root and the account. The password stays in its file. */}}
{{- define "tailrace.kafkaProperties" -}}
{{- $root := index . 0 }}
{{- $security := $root.Values.kafka.security }}
{{- if ne $security.protocol "plaintext" }}
kafka.properties.security.protocol: {{ upper $security.protocol }}
{{- end }}
{{- if and (include "tailrace.kafkaEncrypts" $root) $security.authoritySecret }}
kafka.properties.ssl.truststore.type: PEM
kafka.properties.ssl.truststore.location: /run/kafka/ca.crt
{{- end }}
{{- if include "tailrace.kafkaAsks" $root }}
{{- $module := ternary "plain.PlainLoginModule" "scram.ScramLoginModule" (eq $security.mechanism "PLAIN") }}
kafka.properties.sasl.mechanism: {{ $security.mechanism }}
kafka.properties.config.providers: files
kafka.properties.config.providers.files.class: org.apache.kafka.common.config.provider.DirectoryConfigProvider
kafka.properties.config.providers.files.param.allowed.paths: /run/kafka
kafka.properties.sasl.jaas.config: org.apache.kafka.common.security.{{ $module }} required username="tailrace-{{ index . 1 }}" password="${files:/run/kafka:password}";
{{- end }}
{{- end }}
