package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/english"
)

// Target is one file to write, and in which format; "-" is stdout.
type Target struct{ Path, Format string }

// extensions are the formats by the extension of a file, without the dot.
var extensions = map[string]string{
	"json": "json", "html": "html", "htm": "html", "md": "markdown", "txt": "text", "xml": "junit", "prom": "prometheus", "sh": "shell",
	"yaml": "yaml", "yml": "yaml", "env": "env",
}

// extensionOf returns the extension of a file, in small letters and without the dot. The name
// of a hidden file is none.
func extensionOf(path string) string {
	base := filepath.Base(path)
	return strings.ToLower(strings.TrimPrefix(filepath.Ext(strings.TrimPrefix(base, ".")), "."))
}

// stdoutNames are files that are stdout: what is written there is mixed with what else is printed.
var stdoutNames = []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}

// IsStdout reports whether a file of the command line is stdout.
func IsStdout(path string) bool { return path == "-" || slices.Contains(stdoutNames, path) }

// TargetOf returns the target of a file, in the format of its extension.
func TargetOf(path string) Target { return Target{path, extensions[extensionOf(path)]} }

// OutputFlag takes the files to write: those of a command with several formats have the
// one of their extension.
func OutputFlag(what string, severalFormats bool) urfave.Flag {
	how := "write " + what + " to `FILE`"
	if severalFormats {
		how += ", as its extension says"
	}
	return &urfave.StringSliceFlag{Name: "output", Aliases: []string{"o"}, Usage: how + "; whole or not at all; - is stdout; repeatable"}
}

// ReadTargets returns what --output and --format of a command say; formats are those that
// the command can write. A format that is given is that of the only file, or of those
// of several whose names have no extension. A command without --format has one format, and
// takes every name except one with the extension of another. Without --output it is stdout.
func ReadTargets(c *urfave.Context, format string, formats []string) ([]Target, error) {
	fail := func(message string, args ...any) error {
		return &UsageError{Message: fmt.Sprintf(message, args...), Command: c.Command.Name}
	}
	if !slices.Contains(formats, format) {
		return nil, fail("--format %s is not known; it is %s", format, english.Choice(formats))
	}
	paths, given, used := c.StringSlice("output"), c.IsSet("format"), false
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	var out []Target
	for _, path := range paths {
		if IsStdout(path) {
			path = "-"
		}
		t := Target{path, format}
		extension, choice := extensionOf(path), TakesValue(c.Command, "format")
		if of := extensions[extension]; path == "-" || extension == "" || len(paths) == 1 && given {
			used = true
		} else if slices.Contains(formats, of) {
			t.Format = of
		} else if choice || of != "" {
			message := fmt.Sprintf("--output %s: %s does not write .%s; the extension is %s", path, c.Command.Name, extension, english.Choice(extensionsOf(formats)))
			if choice {
				message += ", or give --format"
			}
			return nil, fail("%s", message)
		}
		for _, other := range out {
			switch {
			case other.Path == path:
				return nil, fail("--output %s is given twice", path)
			case SameFile(other.Path, path):
				return nil, fail("--output %s and --output %s are the same file", other.Path, path)
			}
		}
		out = append(out, t)
	}
	if given && !used && len(paths) > 1 {
		return nil, fail("--format %s is for one --output: of several, the extensions say the format", format)
	}
	return out, nil
}

// extensionsOf returns the extensions of formats, sorted.
func extensionsOf(formats []string) []string {
	var out []string
	for extension, format := range extensions {
		if slices.Contains(formats, format) {
			out = append(out, "."+extension)
		}
	}
	slices.Sort(out)
	return out
}

// SameFile reports whether two outputs would be written into one file. Windows and macOS tell names by
// their letters, not by their case.
func SameFile(a, b string) bool {
	if a == "-" || b == "-" {
		return a == b
	}
	a, b = resolved(a), resolved(b)
	return a == b || (runtime.GOOS == "windows" || runtime.GOOS == "darwin") && strings.EqualFold(a, b)
}

// resolved returns the path of a file, which need not exist, without symbolic links.
func resolved(path string) string {
	const most = 40 // links; more are a loop
	for range most {
		if whole, err := filepath.EvalSymlinks(path); err == nil {
			path = whole
			break
		}
		if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(folder, filepath.Base(path))
		}
		next, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

// OnStdout reports whether stdout is one of the outputs.
func OnStdout(all []Target) bool {
	return slices.ContainsFunc(all, func(t Target) bool { return t.Path == "-" })
}

// Outputs are files that are all written, or none of them.
type Outputs []*Output

// CreateOutputs prepares all targets for writing; none is an input.
func CreateOutputs(targets []Target, s *Streams, inputs ...string) (Outputs, error) {
	var out Outputs
	for _, t := range targets {
		// Every format is text, and may be called .txt.
		if of := extensions[extensionOf(t.Path)]; of != "" && of != "text" && of != t.Format {
			s.Warn("%s is written as %s, as --format says: by its extension it would be %s", t.Path, t.Format, of)
		}
		o, err := createOutput(t.Path, s, inputs...)
		if err == nil {
			o.Format = t.Format
			out = append(out, o)
			err = o.share()
		}
		if err != nil {
			out.Discard()
			return nil, err
		}
	}
	return out, nil
}

// Fill fills all of them.
func (all Outputs) Fill(fill func(io.Writer, *Output) error) error {
	for _, o := range all {
		if err := fill(o, o); err != nil {
			return o.Failed(err)
		}
	}
	return nil
}

// Commit puts all of them in their places, once all are complete. Stdout comes before the
// files: a closed pipe is more likely than a file that is complete and cannot be renamed.
func (all Outputs) Commit() error {
	for _, o := range all {
		if err := o.finish(); err != nil {
			return err
		}
	}
	for _, o := range all {
		if o.Path == "" {
			if err := o.Flush(); err != nil {
				return o.Failed(err)
			}
		}
	}
	for _, o := range all {
		if err := o.place(); err != nil {
			return err
		}
	}
	return nil
}

// Discard removes all that Commit has not put in its place.
func (all Outputs) Discard() {
	for _, o := range all {
		o.discard()
	}
}

// WriteOutputs writes what is ready to be written: all of it, or nothing.
func WriteOutputs(targets []Target, s *Streams, inputs []string, fill func(io.Writer, *Output) error) error {
	all, err := CreateOutputs(targets, s, inputs...)
	if err != nil {
		return err
	}
	defer all.Discard()
	if err := all.Fill(fill); err != nil {
		return err
	}
	return all.Commit()
}

// share lets others read a file of metrics as far as the umask of the process allows: a
// service of another user reads it, and it holds no secret.
func (o *Output) share() error {
	if !o.temp || o.Format != "prometheus" {
		return nil
	}
	private := o.file
	f, err := os.OpenFile(private.Name()+".shared", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	hold(f)
	o.made.note(f)
	o.file = f
	o.Reset(f)
	err = private.Close() // before it is removed: Windows removes no file that is open
	o.made.remove(private.Name())
	return err
}
