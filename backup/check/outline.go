package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drift-detector/backup"
)

// Outline is what velero-backup.json says of a backup as a whole, without what it leaves
// out. A store may hold very many of them: nothing else of the file is kept, nor built
// while it is read, and no text is longer than maxText.
type Outline struct {
	Name       string
	Namespace  string // of Velero
	Schedule   string // empty for none
	Location   string // the BackupStorageLocation that it was made for
	Kubernetes string // version of the management cluster, as Velero noted it
	Phase      velerov1.BackupPhase
	Format     string
	// In UTC; zero where the file does not say it.
	Started, Ended, Expires time.Time
	Created                 time.Time // the object; Velero begins soon after
	Errors, Warnings        int
	Items                   int // that Velero counted; 0 where it does not say it
	// Excludes is the filter that keeps Clusters and Machines out of the backup; empty for none.
	Excludes string

	// Beyond says that its filters are not used to tell what it may hold: there are too many.
	Beyond string
	// Spec is a digest of how it was to be made: that of a schedule, until somebody changes it.
	Spec uint64

	namespaces *filters // nil where all namespaces may be in it, or it is not known which
}

// Bounds of velero-backup.json. An object of the API server is smaller than its database
// accepts, 1.5 MiB by default; names and labels have 253 characters at most.
const (
	MaxVelero = 4 << 20
	maxText   = 253
)

// ReadOutline reads the text of a velero-backup.json as [ReadVelero] does, without filters.
func ReadOutline(path string, text []byte) (*Outline, error) {
	var file outlineFile
	if err := decode(path, text, &file); err != nil {
		return nil, err
	}
	o, err := file.outline(path)
	if err != nil {
		return nil, err
	}
	return &o, nil
}

// outlineFile is the form of the file, as far as an Outline needs it. The decoder skips
// all else.
type outlineFile struct {
	APIVersion, Kind string
	Metadata         struct {
		Name, Namespace string
		Labels          struct {
			Schedule string `json:"velero.io/schedule-name"`
		}
		CreationTimestamp metav1.Time
		Annotations       struct {
			Kubernetes string `json:"velero.io/source-cluster-k8s-gitversion"`
		}
	}
	Spec   json.RawMessage
	Status struct {
		Phase                                           velerov1.BackupPhase
		FormatVersion                                   string
		StartTimestamp, CompletionTimestamp, Expiration metav1.Time
		Errors, Warnings                                int
		Progress                                        struct{ ItemsBackedUp int }
	}
}

// decode takes of a file of at most MaxVelero bytes what is used of it.
func decode(path string, text []byte, into any) error {
	if len(text) > MaxVelero {
		return &backup.InputError{Name: path, Problem: fmt.Sprintf("larger than %d bytes", MaxVelero), Next: nextVelero}
	}
	if err := json.Unmarshal(text, into); err != nil { // which holds a part of the text
		return &backup.InputError{Name: path, Problem: "not the description of a backup: " + jsonFault(err), Next: nextVelero}
	}
	return nil
}

// jsonFault returns what is wrong with JSON without quoting it.
func jsonFault(err error) string {
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		return typ.Field + " is not of its type"
	}
	return "no valid JSON"
}

func (f *outlineFile) outline(path string) (Outline, error) {
	m, s := &f.Metadata, &f.Status
	group, _, _ := strings.Cut(f.APIVersion, "/")
	if group != velerov1.SchemeGroupVersion.Group || f.Kind != "Backup" || m.Name == "" {
		return Outline{}, &backup.InputError{Name: path, Problem: "not the description of a backup: no Backup object of Velero", Next: nextVelero}
	}
	o := Outline{
		Name: m.Name, Namespace: m.Namespace, Schedule: m.Labels.Schedule, Kubernetes: m.Annotations.Kubernetes, Phase: s.Phase, Format: s.FormatVersion,
		Created: m.CreationTimestamp.UTC(), Started: s.StartTimestamp.UTC(), Ended: s.CompletionTimestamp.UTC(), Expires: s.Expiration.UTC(), Errors: s.Errors, Warnings: s.Warnings, Items: s.Progress.ItemsBackedUp,
	}
	for _, text := range []string{o.Name, o.Namespace, o.Schedule, o.Kubernetes, string(o.Phase), o.Format} {
		if len(text) > maxText {
			return Outline{}, &backup.InputError{Name: path, Problem: fmt.Sprintf("not the description of a backup: it has a name of more than %d bytes", maxText), Next: nextVelero}
		}
	}
	o.scope(f.Spec)
	return o, nil
}

// maxScope is how many namespaces an outline keeps: without them it is not known which are in
// the backup.
const maxScope = 50

// scope notes what filters keep out. Of filters that can't be read nothing is known.
func (o *Outline) scope(spec json.RawMessage) {
	digest := fnv.New64a()
	_, _ = digest.Write(spec)
	o.Spec = digest.Sum64()
	f, err := readFilters("", spec)
	if err != nil {
		o.Beyond = "its filters can't be read, and do not count: it may hold clusters"
		return
	}
	o.Location = strings.Clone(short(f.StorageLocation))
	for _, resource := range []string{"clusters." + coreGroup, "machines." + coreGroup, "clusterdeployments.k0rdent.mirantis.com"} {
		if o.Excludes = strings.Clone(f.resource(resource, false, true)); o.Excludes == "" {
			break
		}
	}
	switch {
	case f.namespaces() == "":
		return
	case slices.ContainsFunc(slices.Concat(f.IncludedNamespaces, f.ExcludedNamespaces), func(entry string) bool { return !isPlain(entry) }):
		o.Beyond = "its filters name namespaces by patterns that are not read alike by all Veleros, and do not count: it may hold clusters"
		return
	case len(f.IncludedNamespaces)+len(f.ExcludedNamespaces) > maxScope:
		o.Beyond = fmt.Sprintf("its filters name more than %d namespaces, and do not count: it may hold clusters", maxScope)
		return
	}
	o.namespaces = &filters{}
	for _, list := range []struct{ from, to *[]string }{{&f.IncludedNamespaces, &o.namespaces.IncludedNamespaces}, {&f.ExcludedNamespaces, &o.namespaces.ExcludedNamespaces}} {
		for _, namespace := range *list.from {
			*list.to = append(*list.to, strings.Clone(short(namespace)))
		}
	}
}

// LeavesOutAll names the filter that keeps all of some namespaces out of the backup; it is ""
// where one of them may be in it.
func (o *Outline) LeavesOutAll(namespaces []string) string {
	if o.namespaces == nil {
		return ""
	}
	by := ""
	for _, namespace := range namespaces {
		if by = o.namespaces.namespace(namespace); by == "" {
			return ""
		}
	}
	return by
}
