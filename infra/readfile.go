package infra

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"drift-detector/internal/lazyregexp"
)

// readFileTime is how long a file that is none, such as a FIFO or what a shell makes of <(…), may
// take to give what it has. It is less in tests.
var readFileTime = 30 * time.Second

// ReadFile reads a small file of the operator's, of at most so many bytes. One that is no regular
// file must not hold a run for ever: nobody may ever write into a FIFO.
func ReadFile(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() || info.IsDir() {
		return readMost(path, most)
	}
	type outcome struct {
		content []byte
		err     error
	}
	done := make(chan outcome, 1)
	go func() {
		content, err := readMost(path, most)
		done <- outcome{content, err}
	}()
	select {
	case o := <-done:
		return o.content, o.err
	case <-time.After(readFileTime):
		return nil, fmt.Errorf("it is no regular file, and gave nothing within %s", readFileTime)
	}
}

// fileName is what people call files that hold a secret: a path, or a name with an ending that says what it is.
var fileName = lazyregexp.New(`^([\pL\pN ._~+-]*[/\\][\pL\pN ._~+/\\-]*|[\pL\pN._-]+\.(ya?ml|json|txt|key|bin|pem|crt|url|conf|ini|kubeconfig|password|secret))$`)

// NamesAFile returns whether what was given for a file with a secret can be repeated in a message: it is there, or
// it reads as the name of one. All else may be the secret itself.
func NamesAFile(given string) bool {
	if _, err := os.Stat(given); err == nil {
		return true
	}
	return fileName.MatchString(strings.TrimPrefix(given, filepath.VolumeName(given)))
}

// Unmarked returns a text without the mark that programs of Windows put in front of UTF-8. UTF-16, which > of
// Windows PowerShell writes, is an error: a password that is sent as its bytes locks the account.
func Unmarked(text string) (string, error) {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return "", errors.New("this is UTF-16")
	}
	return strings.TrimPrefix(text, "\ufeff"), nil
}

func readMost(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("larger than %d bytes", most)
	}
	return content, err
}
