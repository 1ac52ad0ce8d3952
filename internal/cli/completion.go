package cli

import (
	"fmt"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"
)

// CompletionFlag is what the scripts of shells put behind a line that they ask to complete.
const CompletionFlag = "--generate-bash-completion"

// Shells are those for which there is a script.
var Shells = []string{"bash", "fish", "powershell", "zsh"}

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

// CompletionScript returns the script of one of the Shells. The flags are those whose values are
// known, and values says them, as that of a Program does.
func CompletionScript(app *urfave.App, shell string, flags []string, values func(command, flag string) []string) (string, error) {
	if shell != "fish" {
		return completions[shell], nil
	}
	script, err := app.ToFishCompletion()
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(script, "`", "") + fishValues(app, flags, values), nil // around what --help calls a value
}

// complete answers the shell that asks for the values of the flag at the end of the line,
// or for those of an argument: one a line. It reports whether it did; what it does not
// know is left to the library or to the shell's own file names.
func (p *Program) complete(args []string, s *Streams) bool {
	if len(args) < 3 || args[len(args)-1] != CompletionFlag || slices.Contains(args, "--") {
		return false
	}
	line := args[1 : len(args)-1]
	var command *urfave.Command
	for _, a := range line {
		if command = p.Command(a); command != nil {
			break
		}
	}
	if command == nil {
		return false
	}
	last := line[len(line)-1]
	var values []string
	switch name := strings.TrimLeft(last, "-"); {
	case strings.HasPrefix(last, "-") && TakesValue(command, name):
		values = p.Values(command.Name, name)
	case !strings.HasPrefix(last, "-") && p.Values(command.Name, "") != nil:
		values = p.Values(command.Name, "")
	default:
		return false
	}
	for _, v := range values {
		fmt.Fprintln(s.Stdout, v)
	}
	return true
}

// fishValues lets fish ask for the values, which its generated script does not.
func fishValues(app *urfave.App, flags []string, values func(command, flag string) []string) string {
	var b strings.Builder
	b.WriteString("\nfunction __drift_detector_values\n  set -l words (commandline -opc)\n  command $words " + CompletionFlag + " 2>/dev/null\nend\n")
	for _, c := range app.Commands {
		for _, name := range flags {
			if TakesValue(c, name) {
				fmt.Fprintf(&b, "complete -c drift-detector -n '__fish_seen_subcommand_from %s' -f -l %s -r -a '(__drift_detector_values)'\n", c.Name, name)
			}
		}
	}
	for _, c := range app.Commands {
		if values(c.Name, "") != nil {
			fmt.Fprintf(&b, "complete -c drift-detector -n '__fish_seen_subcommand_from %s' -f -a '(__drift_detector_values)'\n", c.Name)
		}
	}
	return b.String()
}
