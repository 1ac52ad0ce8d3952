package infra

import (
	"errors"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra/shell"
)

// Extractor is a Provider whose credentials can be written in the form in which people's own
// tools read them.
type Extractor interface {
	// Extract returns the files for a Target with a credential of the backup: what the
	// provider itself uses of it, and nothing that a backup could have run, opened or sent
	// elsewhere. path is where a file of a name will be. An error holds no secret.
	Extract(t Target, path func(name string) string) (Extract, error)
}

// Extract is one credential, as files.
type Extract struct {
	Files []LoginFile
	Use   string   // the line that makes a tool take the first of them
	Lacks []string // what of the credential is not in the files
}

// LoginFile is a file that holds a secret. Its name is of words of the backup.
type LoginFile struct {
	Name string
	Text backup.Sensitive
}

// Extract returns the credential of a target as files, see [Extractor].
func (r *Registry) Extract(t Target, path func(name string) string) (Extract, error) {
	if t.Refused != nil {
		return Extract{}, errors.New(t.Refused.Message)
	}
	e, ok := r.named(t.Provider).(Extractor)
	if !ok || t.Credential == nil {
		return Extract{}, errors.New("no tool takes a credential of " + t.Provider + " from a file")
	}
	return e.Extract(t, path)
}

// Exports returns lines of a shell that set variables, which come in turns with their values.
// One without a value is left out.
func Exports(pairs ...string) (backup.Sensitive, error) {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		word, ok := shell.Quote(pairs[i+1])
		if !ok {
			return backup.Sensitive{}, errors.New(pairs[i] + " holds characters that no line of a shell can show")
		}
		b.WriteString("export " + pairs[i] + "=" + word + "\n")
	}
	return backup.NewSensitive(b.String()), nil
}
