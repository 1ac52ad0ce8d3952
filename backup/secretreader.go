package backup

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup/archive"
	"drift-detector/backup/scan"
)

const secretResource = "secrets"

// secretReader keeps the Secrets that a rule recognises. It copies what it
// keeps of their content out of the arenas' way, so that dropping the Secrets
// drops the content.
type secretReader struct {
	rules   []SecretRule
	plan    *scan.Plan
	typ     int            // slot of the type
	keys    [][]*secretKey // by rule
	capture *scan.Capture
	memory  *memory
	use     usage
	meta    metaUsage
	kept    blocks[keptSecret]
	list    []*keptSecret // of them, once all were read
	form    *archive.Form // of the last one, which most share
	// Used again for each Secret: what is kept of it, and what a value was decoded into.
	values  []SecretValue
	decoded []byte
}

// secretKey is a data key that a rule names.
type secretKey struct {
	name     string
	slot     int
	optional bool
	digest   func(Sensitive) Digest // nil where there is none
	keeps    bool                   // the value is kept, too
	// The last few, because clusters may share authorities, and which is the next to go.
	known [8]digested
	next  int
}

// digested is a value, as it was written, and its digest.
type digested struct {
	raw []byte
	*Digest
}

// keptSecret is a Secret with the path form that it was read from.
type keptSecret struct {
	Secret
	form *archive.Form
}

func newSecretReader(w Want, m *memory) *secretReader {
	r := &secretReader{rules: w.Secrets, plan: newPlan(), memory: m}
	add := func(members ...string) int {
		slot, err := r.plan.Add(members...)
		if err != nil {
			panic(fmt.Sprintf("secret rule, key %q: %v", members[len(members)-1], err))
		}
		return slot
	}
	r.typ = add("type")
	digested := map[string]bool{}
	for _, rule := range w.Secrets {
		keeps := rule.Digest == nil || rule.Login && !w.Offline
		var keys []*secretKey
		for i, name := range slices.Concat(rule.Keys, rule.Optional) {
			if was, named := digested[name]; named && was == keeps {
				panic(fmt.Sprintf("secret rule, key %q: one rule keeps the value, and another one not", name))
			}
			digested[name] = !keeps
			keys = append(keys, &secretKey{name: name, slot: add("data", name), optional: i >= len(rule.Keys), digest: rule.Digest, keeps: keeps})
		}
		r.keys = append(r.keys, keys)
	}
	r.capture = m.capture(r.plan)
	return r
}

func (r *secretReader) wanted() bool { return len(r.rules) > 0 }

func (r *secretReader) wants(h *archive.Header) bool {
	return slices.ContainsFunc(r.rules, func(rule SecretRule) bool { return rule.fitsName(h.Name) })
}

func (r *secretReader) ownerless() bool { return false }

func (r *secretReader) join(*scan.Plan) error { return errAlone }

var errAlone = errors.New("Secrets are scanned for nobody else")

// fitsName compares a name with the rule's: exact, or by suffix.
func (rule *SecretRule) fitsName(name []byte) bool {
	if suffix, ok := strings.CutPrefix(rule.Name, "*"); ok {
		return len(name) >= len(suffix) && string(name[len(name)-len(suffix):]) == suffix
	}
	return rule.Name == "" || rule.Name == string(name)
}

var errNotBase64 = errors.New("not base64")

// maxSecret is how large the data of a Secret may be (Kubernetes
// pkg/apis/core/types.go MaxSecretSize v1.36.0).
const maxSecret = 1 << 20

var errTooLarge = fmt.Errorf("larger than %d bytes, which no Secret can be", maxSecret)

// keyError says what is wrong with one data key of a Secret.
type keyError struct {
	key string
	err error
}

func (e keyError) Error() string { return fmt.Sprintf("data key %q is %v", e.key, e.err) }

func (e keyError) Unwrap() error { return e.err }

// read keeps the Secret when one of the rules fits it. Keys that other rules
// name come along with it, when those rules fit too.
func (r *secretReader) read(e *entry, s *scan.Scanner) error {
	if err := s.Scan(r.capture, e.Body); err != nil {
		return err
	}
	var typ string
	if f, ok := r.capture.At(r.typ); ok {
		if !f.Values[0].IsString() {
			return fieldError{"type", errNotString}
		}
		var err error
		if typ, err = r.memory.text(f.Values[0], &r.use); err != nil {
			return fieldError{"type", err}
		}
	}
	var fits bool
	var named error
	r.values = r.values[:0]
	for i := range r.rules {
		rule := &r.rules[i]
		if !rule.fitsName(e.Name) || rule.Type != "" && rule.Type != typ {
			continue
		}
		before := len(r.values)
		if key, err := r.decode(r.keys[i]); err == nil {
			if fits = true; rule.Mark != "" {
				r.values = append(r.values, SecretValue{Key: rule.Mark})
			}
		} else if errors.Is(err, errTooLarge) {
			return keyError{key, err}
		} else if r.values = r.values[:before]; rule.Name != "" {
			named = keyError{key, err}
		}
	}
	if !fits {
		return named
	}
	if r.form == nil || *r.form != e.Form {
		form := e.Form
		r.form = &form
	}
	kept := r.kept.add()
	kept.form = r.form
	if e.ownerless = len(r.values) == 0; !e.ownerless { // of most nothing matters but that they are there
		kept.Values = slices.Clone(r.values)
	}
	if err := readMeta(&kept.Meta, e, r.capture, r.memory, &r.meta); err != nil {
		r.kept.drop()
		return err
	}
	r.memory.spend(smallObject)
	for _, v := range r.values {
		r.memory.spend(len(v.value))
	}
	return nil
}

// decode decodes the keys of a rule into values, behind those of other rules. A bad optional
// key counts as absent, unless it is too large to look at. It returns the first key that
// does not.
func (r *secretReader) decode(keys []*secretKey) (bad string, err error) {
	for _, key := range keys {
		if slices.ContainsFunc(r.values, func(v SecretValue) bool { return v.Key == key.name }) {
			continue
		}
		v, err := r.value(key)
		switch {
		case err == nil:
			r.values = append(r.values, v)
		case !key.optional || errors.Is(err, errTooLarge):
			return key.name, err
		}
	}
	return "", nil
}

// value returns what is kept of a data key.
func (r *secretReader) value(key *secretKey) (SecretValue, error) {
	kept := SecretValue{Key: key.name}
	f, ok := r.capture.At(key.slot)
	if !ok {
		return kept, errMissing
	}
	v := f.Values[0]
	if !v.IsString() {
		return kept, errNotString
	}
	raw := v.Raw
	if v.Form == scan.Escaped {
		raw = scan.Unquote(nil, raw)
	}
	for _, d := range key.known {
		if !key.keeps && d.Digest != nil && bytes.Equal(raw, d.raw) {
			kept.digest = d.Digest
			return kept, nil
		}
	}
	if len(raw) > base64.StdEncoding.EncodedLen(maxSecret) {
		return kept, errTooLarge
	}
	text, err := base64.StdEncoding.AppendDecode(r.decoded[:0], raw)
	if err != nil {
		return kept, errNotBase64 // without the cause, which may quote the input
	}
	kept.Sensitive = NewSensitive(string(text))
	clear(text)
	r.decoded = text
	if key.digest != nil && !kept.IsZero() {
		r.memory.spend(len(text)) // as if it were kept: that bounds what is parsed, too
		digest := key.digest(kept.Sensitive)
		kept.digest = &digest
		if key.keeps {
			return kept, nil
		}
		kept.Sensitive = Sensitive{}
		oldest := &key.known[key.next%len(key.known)]
		*oldest = digested{append(oldest.raw[:0], raw...), &digest}
		key.next++
	}
	return kept, nil
}

// finish keeps one copy of each Secret, as for other objects.
func (r *secretReader) finish(l *loading) {
	r.list = make([]*keptSecret, 0, r.kept.len())
	for _, block := range r.kept.all {
		for i := range block {
			r.list = append(r.list, &block[i])
		}
	}
	slices.SortStableFunc(r.list, func(a, b *keptSecret) int {
		if c := compareNames(&a.Meta, &b.Meta); c != 0 {
			return c
		}
		return a.form.Compare(*b.form)
	})
	kept := r.list[:0]
	var best *keptSecret
	for _, s := range r.list {
		problem := func(reason string) {
			l.problem(s.Backup, archive.Path(secretResource, *s.form, s.Namespace, s.Name), reason)
		}
		switch {
		case best == nil || compareNames(&best.Meta, &s.Meta) != 0:
			if best = s; s.form.Version == "" {
				kept = append(kept, s)
			} else {
				problem(noClassic)
			}
		case *best.form == *s.form:
			problem(pathTwice)
			*best = *s
		case best.UID != s.UID:
			problem(otherUID)
		}
	}
	clear(r.list[len(kept):])
	r.list = kept
}

// take hands the Secrets over and forgets them.
func (r *secretReader) take() *Secrets {
	s := &Secrets{list: r.list}
	*r = secretReader{}
	return s
}
