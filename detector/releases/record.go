package releases

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Object is an object of Kubernetes as its JSON decodes.
type Object = map[string]any

// maxRecord bounds what a record may unpack to, and maxManifests what is kept of all.
const (
	maxRecord    = 64 << 20
	maxManifests = 512 << 20
)

// Revision is one record of a release, the newest of which is compared.
type Revision struct {
	Revision int        `json:"revision"`
	Status   string     `json:"status"` // of Helm: deployed, superseded, failed, pending-upgrade, …
	Modified *time.Time `json:"modified,omitempty"`
}

// key tells releases apart: Helm's storage is per namespace and driver.
type key struct{ namespace, name, storage string }

// stored is a release as far as its records are known; packed is the newest one's text.
type stored struct {
	revisions []Revision
	newest    Revision
	packed    string
	damaged   string // why the newest record can't be read, before it is unpacked

	newer string // the storage that has newer records of the release

	deployed int    // the newest deployed revision but the newest of all
	base     string // its text, as packed
}

// keep notes the record of a revision that is not the newest of all: an upgrade goes out from
// the newest deployed one (pkg/action/upgrade.go prepareUpgrade v4.2.4).
func (s *stored) keep(r Revision, packed string) {
	if r.Status == "deployed" && r.Revision > s.deployed {
		s.deployed, s.base = r.Revision, packed
	}
}

// record is what is used of Helm's release object (helm pkg/release/v1/release.go
// v4.2.0). The values (config) and the chart's templates are not read.
type record struct {
	Name  string `json:"name"`
	Chart struct {
		Metadata struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"metadata"`
	} `json:"chart"`
	Info struct {
		Status string `json:"status"`
	} `json:"info"`
	Manifest string `json:"manifest"`
	Hooks    []struct {
		Kind     string `json:"kind"`
		Name     string `json:"name"`
		Manifest string `json:"manifest"`
	} `json:"hooks"`
	Version     int    `json:"version"`
	Namespace   string `json:"namespace"`
	ApplyMethod string `json:"apply_method"`
}

const recordPrefix = "sh.helm.release.v1."

// readRecord notes a Secret or ConfigMap that holds a revision of a release, and
// reports whether the object is one.
func (c *Collector) readRecord(o Object) bool {
	kind, labels := text(o, "kind"), stringMap(o, "metadata", "labels")
	owner := cmp.Or(labels["owner"], labels["OWNER"])
	name := text(o, "metadata", "name")
	switch {
	case kind == "Secret" && text(o, "type") == "helm.sh/release.v1":
	case kind == "ConfigMap" && strings.EqualFold(owner, "helm") && text(o, "data", "release") != "":
	default:
		return false
	}
	rest, ordinal := name, ""
	if i := strings.LastIndex(name, ".v"); i >= 0 {
		rest, ordinal = name[:i], name[i+2:]
	}
	rest = cmp.Or(labels["name"], labels["NAME"], strings.TrimPrefix(rest, recordPrefix))
	revision, err := strconv.Atoi(cmp.Or(labels["version"], labels["VERSION"], ordinal))
	if err != nil {
		c.problem(describe(o), "a release record without a revision")
		return true
	}
	k := key{text(o, "metadata", "namespace"), rest, kind}
	s := c.stored[k]
	if s == nil {
		s = &stored{}
		c.stored[k] = s
	}
	packed, damaged := text(o, "data", "release"), ""
	if kind == "Secret" {
		inner, err := base64.StdEncoding.DecodeString(packed)
		if packed = string(inner); err != nil {
			damaged = "its data is no base64"
		}
	}
	this := revisionOf(revision, labels)
	s.revisions = append(s.revisions, this)
	if len(s.revisions) > 1 && s.newest.Revision >= revision {
		s.keep(this, packed)
		return true
	}
	s.keep(s.newest, s.packed)
	s.newest, s.packed, s.damaged = this, packed, damaged
	return true
}

// leaveBehind marks the older of two storages that have one release: what stays of records when
// HELM_DRIVER changes. Without times nothing is known.
func (c *Collector) leaveBehind() {
	last := func(s *stored) (last time.Time) {
		for _, r := range s.revisions {
			if r.Modified != nil && r.Modified.After(last) {
				last = *r.Modified
			}
		}
		return last
	}
	for k, s := range c.stored {
		other := c.stored[key{k.namespace, k.name, "ConfigMap"}]
		if k.storage == "ConfigMap" || other == nil || slices.ContainsFunc(c.controllers, func(by *controller) bool {
			return by.kind == "HelmRelease" && by.release == k.namespace+"/"+k.name // which reads Secrets
		}) {
			continue
		}
		switch a, b := last(s), last(other); {
		case a.IsZero() || b.IsZero():
		case a.Before(b):
			s.newer = "ConfigMap"
		case b.Before(a):
			other.newer = k.storage
		}
	}
}

func revisionOf(n int, labels map[string]string) Revision {
	r := Revision{Revision: n, Status: cmp.Or(labels["status"], labels["STATUS"])}
	at := cmp.Or(labels["modifiedAt"], labels["MODIFIEDAT"], labels["createdAt"], labels["CREATEDAT"])
	if seconds, err := strconv.ParseInt(at, 10, 64); err == nil && seconds > 0 && seconds < 253402300800 {
		t := time.Unix(seconds, 0).UTC()
		r.Modified = &t
	}
	return r
}

// unpack reads a record: base64 of JSON, gzipped or plain. Errors quote nothing of it.
func unpack(packed string) (*record, error) {
	body, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		return nil, errors.New("its release is no base64")
	}
	if len(body) > 3 && bytes.Equal(body[:3], []byte{0x1f, 0x8b, 0x08}) {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, errors.New("its gzip is damaged")
		}
		body, err = io.ReadAll(io.LimitReader(z, maxRecord+1))
		if err != nil {
			return nil, errors.New("its gzip is damaged")
		}
		if len(body) > maxRecord {
			return nil, fmt.Errorf("it unpacks to more than %d MiB", maxRecord>>20)
		}
	}
	var r record
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, errors.New("its release is no valid JSON")
	}
	if r.Name == "" {
		return nil, errors.New("its release has no name")
	}
	return &r, nil
}

// text returns a string at a path of an object, or "".
func text(o Object, path ...string) string {
	s, _ := at(o, path...).(string)
	return s
}

// at returns the value at a path of an object, or nil.
func at(v any, path ...string) any {
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[p]
	}
	return v
}

func stringMap(o Object, path ...string) map[string]string {
	m, _ := at(o, path...).(map[string]any)
	out := make(map[string]string, len(m))
	for k, v := range m {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

func list(o any, path ...string) []any {
	l, _ := at(o, path...).([]any)
	return l
}

// describe names an object as Flux does: Kind/namespace/name.
func describe(o Object) string {
	return subject(text(o, "kind"), text(o, "metadata", "namespace"), text(o, "metadata", "name"))
}

func subject(kind, namespace, name string) string {
	if namespace == "" {
		return kind + "/" + name
	}
	return kind + "/" + namespace + "/" + name
}
