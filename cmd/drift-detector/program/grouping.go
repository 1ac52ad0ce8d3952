package program

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"drift-detector/internal/lazyregexp"
	"drift-detector/report/prometheus"
)

// groupIn finds the grouping key in the path of a Pushgateway, which may be below a prefix, and labelName
// is the name of a label.
var (
	groupIn   = lazyregexp.New(`^(|.*/)metrics/(job(?:@base64)?(?:/.*)?)$`)
	labelName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// groupAt returns the address of the group of metrics that --push names, which is the usual one where it
// names none. A Pushgateway takes the path apart at its slashes, however they are written, so that a
// value with one goes there in base64 (README of github.com/prometheus/pushgateway, URL). An error
// repeats nothing of the path.
func groupAt(to *url.URL) (*url.URL, error) {
	path := to.EscapedPath()
	group := groupIn.FindStringSubmatch(path)
	if group == nil {
		group = []string{"", strings.TrimRight(path, "/") + "/", "job/drift-detector"}
	}
	parts := strings.Split(group[2], "/")
	if len(parts)%2 != 0 {
		return nil, errors.New("its path after /metrics/ is not pairs of a label and its value; a slash in a value is written as %2F")
	}
	seen := prometheus.Labels()
	for i := 0; i < len(parts); i += 2 {
		if err := labelled(parts[i : i+2]); err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(parts[i], "@")
		if by, clashes := seen[name]; clashes {
			return nil, fmt.Errorf("its path has the label %s, which %s already: take another name", name, by)
		}
		seen[name] = "it has"
	}
	at := *to
	at.RawPath = group[1] + "metrics/" + strings.Join(parts, "/")
	var err error
	if at.Path, err = url.PathUnescape(at.RawPath); err != nil {
		return nil, errors.New("its path has a % that is no escape")
	}
	return &at, nil
}

// labelled holds a label and its value, as they are in the path, to what a Pushgateway takes and goes on
// working with, and writes the value in base64 where it has to be. One (1.5.1) that has taken a value that is
// not UTF-8, or two groups of which one has a label without a value and the other has not that label, shows
// no metrics of anybody.
func labelled(pair []string) error {
	name, coded := strings.CutSuffix(pair[0], "@base64")
	value, err := url.PathUnescape(pair[1])
	if err == nil && coded {
		var text []byte
		text, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(value, "="))
		value = string(text)
	}
	switch {
	case !labelName.MatchString(name):
		return errors.New("its path after /metrics/ has no name of a label where one is due; a slash in a value is written as %2F")
	case strings.HasPrefix(name, "__"):
		return errors.New("its path has a label whose name begins with __, and Prometheus keeps those to itself")
	case err != nil:
		return errors.New("a value in its path is neither escaped by % nor, after @base64, in base64 of URLs")
	case value == "": // as of an instance whose variable is not set
		return errors.New("a part of its path is empty; where a label is to have no value, leave it out with its name; job has one always")
	case !utf8.ValidString(value):
		return errors.New("a value in its path is not UTF-8, and a Pushgateway that takes it shows no metrics any more")
	case !coded && (strings.Contains(value, "/") || value == "." || value == ".."):
		pair[0], pair[1] = name+"@base64", base64.RawURLEncoding.EncodeToString([]byte(value))
	}
	return nil
}
