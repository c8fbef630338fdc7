{{- define "seawall.selector" -}}
app.kubernetes.io/name: seawall
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "seawall.labels" -}}
{{ include "seawall.selector" . }}
app.kubernetes.io/part-of: seawall
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "seawall.image" -}}
{{- $repository := required "set image.repository, for example to ghcr.io/seawall-dev/seawall" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- /* Two daemons over one volume would write the same zones without knowing of each other. */ -}}
{{- define "seawall.replicas" -}}
{{- $shared := regexMatch "(?m)^[^/\n]*postgres\\??\\s*:" (.Values.config | default "") -}}
{{- if and .Values.postgres.enabled (not $shared) -}}
{{- fail "postgres.enabled needs state: postgres: {…} in config: without it each pod would have a ledger of its own, which is lost with the pod" -}}
{{- end -}}
{{- if and $shared (not .Values.postgres.enabled) -}}
{{- fail "config has state.postgres: set postgres.enabled=true" -}}
{{- end -}}
{{- $replicas := int (.Values.replicas | default (ternary 3 1 .Values.postgres.enabled)) -}}
{{- if and (gt $replicas 1) (not .Values.postgres.enabled) -}}
{{- fail "replicas must be 1 without postgres.enabled: two daemons on one volume would write the same zones without knowing of each other" -}}
{{- end -}}
{{- $replicas -}}
{{- end }}
