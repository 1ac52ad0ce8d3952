package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"reflect"
	"strings"

	json2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"drift-detector/internal/terminal"
)

// Sealed writes the document as [JSON] does, with a digest of each member: a restore begins by it,
// and edits of a person, or of a tool that writes it again, are seen then. It is no signature: who
// means to forge a report can. Members are hashed on their way, so that a large fleet's document is
// made once.
func Sealed(w io.Writer, r *Report) error {
	r.FillLists()
	out := bufio.NewWriterSize(w, 1<<16)
	to, before := &terminal.JSONWriter{To: out}, "{"
	digests := map[string]string{}
	err := r.eachMember(func(name string, f reflect.Value, omitted bool) error {
		if name == "digests" {
			f, omitted = reflect.ValueOf(&digests).Elem(), false
		}
		if omitted {
			return nil
		}
		fmt.Fprintf(to, "%s\n  %q: ", before, name)
		before = ","
		h := sha256.New()
		if err := writeMember(io.MultiWriter(to, h), f); err != nil {
			return fmt.Errorf("writing %s of the report as JSON: %w", name, err)
		}
		if f.Kind() != reflect.Slice || f.Len() > 0 {
			digests[name] = digestOf(h)
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, _ = io.WriteString(to, "\n}\n") // Flush has its error
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the report as JSON: %w", err)
	}
	return nil
}

// eachMember calls visit with each member, in the order of the document, and whether it is left out.
func (r *Report) eachMember(visit func(name string, f reflect.Value, omitted bool) error) error {
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag.Get("json")
		if tag == "" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		f := v.Field(i)
		if err := visit(name, f, options == "omitempty" && f.Len() == 0 || options == "omitzero" && f.IsZero()); err != nil {
			return err
		}
	}
	return nil
}

func writeMember(w io.Writer, f reflect.Value) error {
	return json2.MarshalWrite(w, f.Addr().Interface(), asBefore, jsontext.WithIndentPrefix("  "))
}

func digestOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:16]) }

// Changed names the members that are not as they were when the report was sealed.
func (r *Report) Changed() (members []string, sealed bool) {
	if len(r.Digests) == 0 {
		return nil, false
	}
	now, err := r.digests()
	if err != nil {
		return []string{"what can't be written as JSON"}, true
	}
	_ = r.eachMember(func(name string, _ reflect.Value, _ bool) error {
		if now[name] != r.Digests[name] {
			members = append(members, name)
		}
		return nil
	})
	return members, true
}

// digests returns those of all members but the digests. A list of nothing has none: it may be left out
// of the document.
func (r *Report) digests() (map[string]string, error) {
	out := map[string]string{}
	err := r.eachMember(func(name string, f reflect.Value, _ bool) error {
		if name == "digests" || f.Kind() == reflect.Slice && f.Len() == 0 {
			return nil
		}
		h := sha256.New()
		if err := writeMember(h, f); err != nil {
			return fmt.Errorf("writing %s of the report: %w", name, err)
		}
		out[name] = digestOf(h)
		return nil
	})
	return out, err
}
