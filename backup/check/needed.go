package check

import (
	"bytes"
	"encoding/json"
	"strings"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/internal/lazyregexp"
)

// sought is a Secret or ConfigMap about which an error is, and what the objects of the backup say
// of it. It is most likely not among them: Velero writes no item that had an error
// (pkg/backup/item_backupper.go:backupItemInternal v1.18.3).
type sought struct {
	kind, namespace, name string
	is                    int // what its loss means
}

// maxSought is how many of them are looked for: what others mean is not known.
const maxSought = 100

// Referrers returns a visitor that looks, while a tarball is read, for what needs the Secrets and
// ConfigMaps about which there are errors. It is zero where there are none.
func (v *VeleroBackup) Referrers() archive.Visitor {
	if v == nil || v.Results == nil {
		return archive.Visitor{}
	}
	v.sought, v.controllers = map[string][]*sought{}, map[string]bool{}
	n := 0
	for _, f := range v.Results.Faults {
		for _, i := range f.about {
			if kind := i.data(); kind != "" && i.name != "" && n < maxSought && v.soughtAs(&i) == nil {
				v.sought[i.name] = append(v.sought[i.name], &sought{kind: kind, namespace: i.namespace, name: i.name})
				n++
			}
		}
	}
	if n == 0 {
		return archive.Visitor{}
	}
	return archive.Visitor{Want: v.wantsReferrer, Visit: v.visitReferrer}
}

func (v *VeleroBackup) soughtAs(i *item) *sought {
	for _, s := range v.sought[i.name] {
		if s.namespace == i.namespace && s.kind == i.data() {
			return s
		}
	}
	return nil
}

// beyondNeed are API groups of which no object says that a controller of a cluster needs something:
// those of Kubernetes, and of what makes or uses Secrets for applications.
var beyondNeed = lazyregexp.New(`^(apps|batch|autoscaling|policy|extensions|velero\.io|argoproj\.io|bitnami\.com)$|(^|\.)(k8s\.io|cert-manager\.io|external-secrets\.io|coreos\.com|istio\.io|traefik\.io|fluxcd\.io)$`)

func (v *VeleroBackup) wantsReferrer(h *archive.Header) (bool, error) {
	group := afterDot(h.Resource)
	if controllerForm.Match(h.Name) {
		v.controllers[string(h.Namespace)] = true
	}
	if ofClusters(group) {
		v.noteNames(h)
	}
	return group != "" && !beyondNeed.MatchString(group), nil
}

// noteNames notes what is named after an object: nobody knows whether its controller needs that.
func (v *VeleroBackup) noteNames(h *archive.Header) {
	for name, all := range v.sought {
		for _, s := range all {
			if s.namespace == string(h.Namespace) && len(h.Name) > 0 && strings.Contains(name, string(h.Name)) {
				s.is = max(s.is, undecided)
			}
		}
	}
}

// visitReferrer looks for words of an object that are names which are sought, and only then takes it
// apart.
func (v *VeleroBackup) visitReferrer(i *archive.Item) error {
	for _, s := range v.wordsOf(i.Body) {
		var o any
		if json.Unmarshal(i.Body, &o) != nil {
			return nil // which is a problem of the backup
		}
		r := referrer{s, string(i.Namespace), ofClusters(afterDot(i.Resource))}
		r.walk(o, nil, "")
	}
	return nil
}

// wordsOf returns what is sought of which the name is a word of a text. An escaped letter is none.
func (v *VeleroBackup) wordsOf(text []byte) (found []*sought) {
	seen := map[string]bool{}
	for at := 0; at < len(text); at++ {
		if text[at] == '\\' {
			at++
			continue
		}
		from := at
		for at < len(text) && ofName(text[at]) {
			at++
		}
		if word := bytes.Trim(text[from:at], "-."); v.sought[string(word)] != nil && !seen[string(word)] {
			seen[string(word)] = true
			found = append(found, v.sought[string(word)]...)
		}
		if at < len(text) && text[at] == '\\' {
			at--
		}
	}
	return found
}

func ofName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.'
}

// referrer is an object that may refer to what is sought.
type referrer struct {
	*sought
	in         string // its namespace
	ofClusters bool
}

// walk looks at a value and what is in it. around is the object that it is in, and key the keys
// that lead there.
func (r *referrer) walk(value any, around map[string]any, key string) {
	switch value := value.(type) {
	case map[string]any:
		for k, inside := range value {
			r.walk(inside, value, key+"."+strings.ToLower(k))
		}
	case []any:
		for _, inside := range value {
			r.walk(inside, around, key)
		}
	case string:
		if value == r.name {
			r.refers(around, key)
		} else if strings.Contains(value, r.name) && r.in == r.namespace {
			r.is = max(r.is, undecided)
		}
	}
}

// refers decides what it means that an object has the name: a reference to a Secret or a ConfigMap
// has that in its key, or beside it as its kind.
func (r *referrer) refers(around map[string]any, key string) {
	namespace, _ := around["namespace"].(string)
	kind, _ := around["kind"].(string)
	there := namespace == r.namespace || namespace == "" && (r.in == "" || r.in == r.namespace)
	isOne := strings.EqualFold(kind, r.kind) || kind == "" && (strings.Contains(key, r.kind) || r.kind == "secret" && (strings.Contains(key, "identity") || strings.Contains(key, "credential")))
	switch {
	case there && isOne && r.ofClusters:
		r.is = lost
	case there && isOne, r.in == r.namespace:
		r.is = max(r.is, undecided)
	}
}

// data returns which of what the controllers read beside their own objects it is; "" for none.
func (i *item) data() string {
	kind := i.kind
	if kind == "" {
		kind = i.resource
	}
	kind = strings.TrimSuffix(strings.ToLower(kind), "s")
	if i.group == "" && (kind == "secret" || kind == "configmap") {
		return kind
	}
	return ""
}

// madeAgain are what Helm and Kubernetes keep for themselves, and that no controller of a cluster
// reads.
var madeAgain = lazyregexp.New(`^sh\.helm\.release\.v1\.|^kube-root-ca\.crt$`)

// controllersIn are the names that clusterctl gives the namespaces of providers.
var controllersIn = lazyregexp.New(`^cap[a-z0-9]{1,4}-([a-z-]+-)?system$`)

// ofPurpose are the ends of the names of Secrets that Cluster API makes of the name of a cluster
// (Cluster API util/secret/consts.go v1.14.0), and those of control planes that do alike.
var ofPurpose = lazyregexp.New(`^(.+)-(kubeconfig|user-kubeconfig|ca|cca|etcd|proxy|sa|apiserver-etcd-client|token|talosconfig)$`)

// loss returns what it means that a Secret or ConfigMap is lost. in are the namespaces of clusters.
func (e *examination) loss(n int, v *VeleroBackup, i *item, in map[string]bool) int {
	s, m := v.soughtAs(i), ofPurpose.FindStringSubmatch(i.name)
	switch {
	case i.name == "" && (in[i.namespace] || i.namespace == ""), m != nil && e.hasCluster(n, i.namespace, m[1]):
		return lost
	case i.name == "":
		return undecided
	case madeAgain.MatchString(i.name):
		return elsewhere
	case s == nil, !e.readWhole(n):
		return undecided
	case i.namespace == "": // it has one, which is not known
		return max(s.is, undecided)
	case in[i.namespace] && m != nil, controllersIn.MatchString(i.namespace), v.controllers[i.namespace]:
		return max(s.is, undecided)
	}
	return s.is
}

func (e *examination) hasCluster(n int, namespace, name string) bool {
	for i := range e.Clusters { // a derived one has no Cluster object
		if e.Clusters[i].ID() == (backup.ClusterID{Backup: n, Namespace: namespace, Name: name}) {
			return true
		}
	}
	return false
}

// readWhole reports whether all objects of a backup could be read that verdicts rest on.
func (e *examination) readWhole(n int) bool {
	for _, p := range e.Problems {
		if p.Backup == n && p.Decisive {
			return false
		}
	}
	return true
}
