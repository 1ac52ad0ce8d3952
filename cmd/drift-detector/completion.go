package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
)

// completions are the scripts that a shell sources. They ask the binary itself
// for words, through the flag that urfave/cli v2 answers
// (--generate-bash-completion), so they need no change when flags do.
var completions = map[string]string{
	"bash": `_drift_detector() {
  local cur="${COMP_WORDS[COMP_CWORD]}" words
  if [[ "$cur" == -* ]]; then
    words=$("${COMP_WORDS[@]:0:$COMP_CWORD}" "$cur" --generate-bash-completion 2>/dev/null)
  else
    words=$("${COMP_WORDS[@]:0:$COMP_CWORD}" --generate-bash-completion 2>/dev/null)
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o bashdefault -o default -F _drift_detector drift-detector
`,
	"zsh": `#compdef drift-detector
_drift_detector() {
  local -a words_found
  local cur="${words[-1]}"
  if [[ "$cur" == -* ]]; then
    words_found=("${(@f)$(${words[@]:0:#words[@]-1} ${cur} --generate-bash-completion 2>/dev/null)}")
  else
    words_found=("${(@f)$(${words[@]:0:#words[@]-1} --generate-bash-completion 2>/dev/null)}")
  fi
  if [[ -n "${words_found[1]}" && "$cur" != */* ]]; then
    _describe 'values' words_found
  else
    _files
  fi
}
compdef _drift_detector drift-detector
`,
	"powershell": `Register-ArgumentCompleter -Native -CommandName drift-detector -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = $commandAst.CommandElements | ForEach-Object { $_.ToString() }
  $rest = @($words | Select-Object -Skip 1)
  & $words[0] @rest --generate-bash-completion 2>$null | Where-Object { $_ -like "$wordToComplete*" } |
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
}
`,
}

func completionCommand(s *cli.Streams) *urfave.Command {
	shells := []string{"bash", "fish", "powershell", "zsh"}
	return &urfave.Command{
		Name:      "completion",
		Usage:     "print a completion script for a shell",
		UsageText: "drift-detector completion " + strings.Join(shells, "|"),
		Description: `EXAMPLES:
   source <(drift-detector completion bash)`,
		BashComplete: func(c *urfave.Context) { fmt.Fprintln(s.Stdout, strings.Join(shells, "\n")) },
		Action: func(c *urfave.Context) error {
			shell := c.Args().First()
			if c.NArg() != 1 || !slices.Contains(shells, shell) {
				return &cli.UsageError{Message: "name one shell: " + strings.Join(shells, ", "), Command: "completion"}
			}
			script := completions[shell]
			if shell == "fish" {
				var err error
				if script, err = c.App.ToFishCompletion(); err != nil {
					return err
				}
				script = strings.ReplaceAll(script, "`", "") // around what --help calls a value
				script += fishValues(c.App)
			}
			_, err := io.WriteString(s.Stdout, script)
			return err
		},
	}
}
