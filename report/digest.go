package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"

	json2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Seal notes a digest of each member of the document, once nothing is added to it any more: a
// restore begins by it, and edits of a person, or of a tool that writes it again, are seen then.
// It is no signature: who means to forge a report can.
func (r *Report) Seal() error {
	r.FillLists()
	var err error
	r.Digests, err = r.digests()
	return err
}

// Changed names the members that are not as they were when the report was sealed.
func (r *Report) Changed() (members []string, sealed bool) {
	if len(r.Digests) == 0 {
		return nil, false
	}
	now, err := r.digests()
	if err != nil {
		return []string{"what can't be written as JSON"}, true
	}
	for i := range reflect.TypeFor[Report]().NumField() {
		if name := member(i); now[name] != r.Digests[name] {
			members = append(members, name)
		}
	}
	return members, true
}

// member is the name of a field of the document.
func member(i int) string {
	name, _, _ := strings.Cut(reflect.TypeFor[Report]().Field(i).Tag.Get("json"), ",")
	return name
}

// digests are those of all members but the digests. A list of nothing has none: it may be left out
// of the document.
func (r *Report) digests() (map[string]string, error) {
	out := map[string]string{}
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		name, f := member(i), v.Field(i)
		if name == "digests" || f.Kind() == reflect.Slice && f.Len() == 0 {
			continue
		}
		h := sha256.New()
		if err := json2.MarshalEncode(jsontext.NewEncoder(h, asBefore), f.Addr().Interface()); err != nil {
			return nil, fmt.Errorf("writing %s of the report: %w", name, err)
		}
		out[name] = hex.EncodeToString(h.Sum(nil)[:16])
	}
	return out, nil
}
