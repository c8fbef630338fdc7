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
