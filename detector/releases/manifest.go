package releases

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// maxDocuments bounds the objects of one manifest.
const maxDocuments = 10_000

// maxDocument bounds one document in bytes: an API server takes no request of more than 3 MiB.
// maxMarks bounds what may begin a node of YAML, of which each is 400 bytes of memory.
const (
	maxDocument = 4 << 20
	maxMarks    = 600_000
)

// tooLarge reports whether a document is larger than any object of an API server.
func tooLarge(doc string) bool {
	marks := 0
	for _, mark := range []string{",", "\n", "[", "{", ":", "-", "?"} {
		if len(doc) > maxMarks {
			marks += strings.Count(doc, mark)
		}
	}
	return len(doc) > maxDocument || marks > maxMarks
}

// documents splits a manifest at its lines "---" and "...". The line break before such a
// line belongs to the document: a block scalar at its end keeps it.
func documents(manifest string) []string {
	var out []string
	start := 0
	for i := 0; i < len(manifest); {
		end := len(manifest)
		if n := strings.IndexByte(manifest[i:], '\n'); n >= 0 {
			end = i + n + 1
		}
		rest, found := strings.CutPrefix(manifest[i:end], "---")
		_, ended := strings.CutPrefix(manifest[i:end], "...")
		switch content := strings.TrimSpace(rest); {
		case ended && strings.TrimSpace(manifest[i:end]) == "...", found && (content == "" || content[0] == '#'):
			out = append(out, manifest[start:i])
			start = end
		case found && (rest[0] == ' ' || rest[0] == '\t'): // the document begins on this line
			out = append(out, manifest[start:i])
			start = i + len("---")
		}
		i = end
	}
	return append(out, manifest[start:])
}

// objectsOf reads the objects of a manifest. What can't be read is left out and
// handed to bad, in words that quote nothing of it.
func objectsOf(manifest string, bad func(string)) []Object {
	docs := documents(manifest)
	var out []Object
	for i, doc := range docs {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		if tooLarge(doc) {
			bad(fmt.Sprintf("document %d of its manifest is larger than any object", i+1))
			continue
		}
		var o Object
		body, err := yaml.YAMLToJSON([]byte(doc))
		if err == nil {
			o, err = parse(body)
		}
		if err != nil {
			bad(fmt.Sprintf("document %d of its manifest is no YAML of an object", i+1))
			continue
		}
		if o != nil {
			out = unfold(out, o, i+1, bad)
		}
		if len(out) > maxDocuments {
			bad(fmt.Sprintf("its manifest has more than %d objects", maxDocuments))
			return out[:maxDocuments]
		}
	}
	return out
}

// unfold appends an object, or the items of a List.
func unfold(out []Object, o Object, n int, bad func(string)) []Object {
	if strings.HasSuffix(text(o, "kind"), "List") && at(o, "items") != nil {
		for _, item := range list(o, "items") {
			one, ok := item.(Object)
			switch {
			case item != nil && !ok:
				bad(fmt.Sprintf("document %d of its manifest is a list with an item that is no object", n))
			case ok && len(out) <= maxDocuments:
				out = unfold(out, one, n, bad)
			}
		}
		return out
	}
	if text(o, "kind") == "" || text(o, "apiVersion") == "" || text(o, "metadata", "name") == "" {
		bad(fmt.Sprintf("document %d of its manifest has no kind, API version or name", n))
		return out
	}
	return append(out, o)
}
