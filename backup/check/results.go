package check

import (
	"slices"
	"strings"

	"drift-detector/internal/lazyregexp"
)

// Results are the errors of a backup, as Velero noted them beside the tarball: in
// NAME-results.gz those of making it, in NAME-itemoperations.json.gz those of what went on
// after that, such as moving the data of volumes.
type Results struct {
	Faults []Fault
	// Unread says why a file of them could not be read; empty when they are complete.
	Unread string
}

// Fault is one error. About are the objects that it may be about: without any, nothing says
// which.
type Fault struct {
	Message string
	about   []item
}

// Beside are the texts of the files beside a tarball that say what went wrong; nil for one
// that is not there. The names of the files are for messages.
type Beside struct {
	Name                         string // of the backup, with its folder
	Results, Operations, Objects []byte
	// Why the first two could not be read; empty where they were, or are not there. Without
	// the third it is not known what an error is about that has no more than a name.
	NoResults, NoOperations string
}

// ResultsSuffix, OperationsSuffix and ObjectsSuffix follow the name of a backup in the names
// of the files beside its tarball (Velero pkg/persistence/object_store_layout.go v1.18.3).
const (
	ResultsSuffix    = "-results.gz"
	OperationsSuffix = "-itemoperations.json.gz"
	ObjectsSuffix    = "-resource-list.json.gz"
)

// maxFaults bounds the errors of a backup that are kept. What is beyond makes them incomplete.
const maxFaults = 10_000

// Says adds to the description of a backup what the files beside it say of its errors. What
// can't be read is noted: then its errors are not known.
func (v *VeleroBackup) Says(b Beside) {
	r := &Results{Unread: b.NoResults}
	v.Results = r
	switch {
	case b.Results != nil:
		r.readResults(b.Name+ResultsSuffix, b.Results)
	case b.NoResults == "":
		r.unread("no " + b.Name + ResultsSuffix + " is beside the tarball")
	}
	if made := len(r.Faults); v.Errors > made { // Velero adds those of operations to the number
		r.unread(b.NoOperations)
		if b.Operations != nil {
			r.readOperations(b.Name+OperationsSuffix, b.Operations)
		}
	}
	if b.Objects == nil {
		return
	}
	names := map[string]bool{}
	for _, f := range r.Faults {
		for _, i := range f.about {
			if i.resource == "" {
				names[i.name] = true
			}
		}
	}
	contents, err := ReadContents(b.Name+ObjectsSuffix, b.Objects, names)
	if err != nil || contents.Lacks(&v.Outline) != "" {
		return
	}
	v.Contents = contents
	for i, f := range r.Faults {
		if len(f.about) != 1 || f.about[0].resource != "" {
			continue
		}
		if all := contents.called(f.about[0]); len(all) > 0 { // each of that name may be it
			r.Faults[i].about = all
		}
	}
}

func (r *Results) unread(why string) {
	if r.Unread == "" {
		r.Unread = why
	}
}

// readResults reads the errors of making the backup (Velero pkg/util/results/result.go,
// pkg/util/logging/log_counter_hook.go v1.18.3).
func (r *Results) readResults(path string, text []byte) {
	var file struct {
		Errors struct {
			Velero, Cluster []string
			Namespaces      map[string][]string
		}
	}
	if err := inflateJSON(path, text, &file); err != nil {
		r.unread(err.Error())
		return
	}
	e := &file.Errors
	for _, text := range slices.Concat(e.Velero, e.Cluster) {
		r.add(faultOf("", text))
	}
	namespaces := make([]string, 0, len(e.Namespaces))
	for namespace := range e.Namespaces {
		namespaces = append(namespaces, namespace)
	}
	slices.Sort(namespaces)
	for _, namespace := range namespaces {
		for _, text := range e.Namespaces[namespace] {
			r.add(faultOf(namespace, text))
		}
	}
}

func (r *Results) add(f Fault) {
	if len(r.Faults) == maxFaults {
		r.unread("there are more than 10,000 errors, the most that are read")
		return
	}
	r.Faults = append(r.Faults, f)
}

// readOperations reads the operations that failed (Velero pkg/itemoperation v1.18.3).
func (r *Results) readOperations(path string, text []byte) {
	var all []struct {
		Spec struct {
			ResourceIdentifier struct{ Group, Resource, Namespace, Name string }
		}
		Status struct{ Error string }
	}
	if err := inflateJSON(path, text, &all); err != nil {
		r.unread(err.Error())
		return
	}
	for i := range all {
		if on := &all[i].Spec.ResourceIdentifier; all[i].Status.Error != "" {
			r.add(Fault{short(all[i].Status.Error), []item{{group: on.Group, resource: on.Resource, namespace: on.Namespace, name: on.Name}}})
		}
	}
}

var (
	resourceForm = lazyregexp.New(`^ resource: /(\S+)`)
	nameForm     = lazyregexp.New(`^(?: resource: /\S+)? name: /(\S+)`)
	actionForm   = lazyregexp.New(`\(groupResource=([^,\s()]+), namespace=([^,\s()]*), name=([^,\s()]+)\)`)
)

// faultOf takes an error apart: " resource: /R name: /N message: /M error: /E", where what
// is not known is left out. An error of a plugin names the object that it was called for.
func faultOf(namespace, text string) Fault {
	f := Fault{Message: short(strings.TrimSpace(text))}
	i := item{namespace: namespace}
	if m := resourceForm.FindStringSubmatch(text); m != nil {
		i.resource, i.group, _ = strings.Cut(m[1], ".")
	}
	if m := nameForm.FindStringSubmatch(text); m != nil {
		i.name = m[1]
	}
	m := actionForm.FindStringSubmatch(text)
	called := m != nil && (i.name == "" || i.name == m[3]) && i.resource == ""
	if i.resource != "" || i.name != "" && (!called || namespace != "" && namespace != m[2]) {
		f.about = []item{i}
	}
	if called {
		i.resource, i.group, _ = strings.Cut(m[1], ".")
		i.namespace, i.name = m[2], m[3]
		f.about = append(f.about, i)
	}
	return f
}
