package infra

import "bytes"

// jsonScan follows a document of JSON: names of members, strings, numbers, lists and
// objects are items.
type jsonScan struct {
	counter
	inString, escaped, inWord bool
}

func (j *jsonScan) scan(p []byte) error {
	for len(p) > 0 {
		n, err := 1, error(nil)
		switch {
		case j.inString && !j.escaped:
			n = j.plain(p)
		case j.inString:
			j.escaped = false
		default:
			err = j.step(p[0])
		}
		if err == nil {
			err = j.passed(n)
		}
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// plain passes over a string up to its end or an escape.
func (j *jsonScan) plain(p []byte) int {
	n := bytes.IndexAny(p, `"\`) + 1
	if n == 0 {
		return len(p)
	}
	j.inString, j.escaped = p[n-1] == '\\', p[n-1] == '\\'
	return n
}

func (j *jsonScan) step(c byte) error {
	wasWord := j.inWord
	j.inWord = false
	switch c {
	case ' ', '\t', '\r', '\n', ',', ':':
		return nil
	case ']', '}':
		j.close()
		return nil
	case '"':
		j.inString = true
		return j.item()
	case '[', '{':
		if err := j.item(); err != nil {
			return err
		}
		return j.open()
	}
	if j.inWord = true; wasWord {
		return nil
	}
	return j.item()
}
