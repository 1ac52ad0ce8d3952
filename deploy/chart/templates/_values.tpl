{{- /* The ports of the addresses in the values, as a list in JSON: of push.url, env and args, which reach the
rest of the pod's world by them. One that is none is refused, and not repeated. */}}
{{- define "drift-detector.ports" }}
{{- $given := list (dict "of" "push.url" "text" ((.Values.push | default dict).url | default "")) }}
{{- range .Values.env }}
{{- if not (regexMatch "(?i)^no_proxy$" .name) }}
{{- $proxy := regexMatch "(?i)^https?_proxy$" .name }}
{{- $bare := or $proxy (regexMatch "(?i)(endpoint|proxy|url|addr|host|server)" .name) }}
{{- $given = append $given (dict "of" (printf "env %s" .name) "text" (.value | default "") "bare" $bare "proxy" $proxy) }}
{{- end }}
{{- end }}
{{- range .Values.managementClusters }}
{{- range .args }}
{{- if not (regexMatch "^--?link=" .) }}
{{- $flag := regexFind "^--?[a-z0-9-]+=" . }}
{{- $given = append $given (dict "of" "managementClusters: args" "text" (trimPrefix $flag .) "bare" (regexMatch "^--?(endpoint|s3-endpoint|push)=" .)) }}
{{- end }}
{{- end }}
{{- end }}
{{- $ports := list }}
{{- range $one := $given }}
{{- $found := list }}
{{- if not (regexMatch "@|[?]" $one.text) }}{{- /* else it is refused, with the way to do it */}}
{{- range regexFindAll "(https?|socks5h?)://[^/ ,=]+" $one.text -1 }}
{{- $usual := get (dict "https" "443" "http" "80" "socks5" "1080" "socks5h" "1080") (regexFind "^[a-z0-9]+" .) }}
{{- $found = append $found (regexFind ":[^]:/]*$" . | trimPrefix ":" | default $usual) }}
{{- end }}
{{- if $one.bare }}
{{- range regexSplit "[ ,=]+" (regexReplaceAll "[a-z0-9]+://[^ ,=]*" $one.text "") -1 }}
{{- $host := regexFind "^[^/]+" . }}
{{- if regexMatch "^([^:]+|\\[[^]]+\\]):[0-9]+$" $host }}
{{- $found = append $found (regexFind "[0-9]+$" $host) }}
{{- else if and $host $one.proxy }}
{{- $found = append $found "80" }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- range $found }}
{{- if not (regexMatch "^[1-9][0-9]{0,4}$" .) }}
{{- fail (printf "%s has an address whose port is none of 1 to 65535" $one.of) }}
{{- end }}
{{- if gt (atoi .) 65535 }}
{{- fail (printf "%s has an address whose port is none of 1 to 65535" $one.of) }}
{{- end }}
{{- $ports = append $ports . }}
{{- end }}
{{- end }}
{{- $ports | uniq | toJson }}
{{- end }}

{{- /* A time such as 1h30m in seconds, as a rule of Prometheus has it; 26 hours where there is none. */}}
{{- define "drift-detector.seconds" }}
{{- $seconds := 0 }}
{{- range regexFindAll "[0-9]+[smh]" (. | default "26h") -1 }}
{{- $one := get (dict "s" 1 "m" 60 "h" 3600) (trunc -1 .) }}
{{- $seconds = add $seconds (mul $one (regexFind "^[0-9]+" . | int64)) }}
{{- end }}
{{- if mod $seconds 3600 }}{{ $seconds }}{{ else }}{{ div $seconds 3600 }} * 3600{{ end }}
{{- end }}
