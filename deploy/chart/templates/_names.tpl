{{- define "postern.name" -}}
{{- if contains "postern" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-postern" (.Release.Name | trunc 42 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "postern.selector" -}}
app.kubernetes.io/name: postern
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "postern.labels" -}}
{{ include "postern.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "postern.account" -}}
{{- if .Values.serviceAccount.name }}{{ .Values.serviceAccount.name }}{{ else if .Values.serviceAccount.create }}{{ include "postern.name" . }}{{ else }}default{{ end }}
{{- end }}

{{- define "postern.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ printf "%s@%s" .repository .digest }}{{ else }}{{ printf "%s:%s" .repository (.tag | default $.Chart.AppVersion) }}{{ end -}}
{{- end -}}
{{- end }}

{{/* What of a pod is the same in the migration: who it is, and what it may do. */}}
{{- define "postern.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "postern.container" -}}
image: {{ include "postern.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* The secrets that are there already, as files. */}}
{{- define "postern.secrets" -}}
projected:
  defaultMode: 0440
  sources:
    {{- range $name, $secret := .Values.existingSecrets }}
    {{- if $secret.name }}
    - secret: { name: {{ $secret.name }}, items: [{ key: {{ $secret.key }}, path: {{ $name }} }] }
    {{- end }}
    {{- end }}
{{- end }}

{{/* Values that do not go together. */}}
{{- define "postern.judge" -}}
{{- if and (not .Values.existingSecrets.store.name) (or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled) }}
{{- fail "existingSecrets.store.name: several replicas need one PostgreSQL; name the secret with its URL, or set replicas to 1 and switch autoscaling off" }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled (not .Values.existingSecrets.consoleToken.name) }}
{{- fail "existingSecrets.consoleToken.name: metrics are on the pod's loopback address without a token; name the secret that holds one" }}
{{- end }}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) }}
{{- fail "autoscaling.minReplicas: more than maxReplicas" }}
{{- end }}
{{- end }}
