package infra

import (
	"fmt"
	"io"
	"os"
	"time"
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
