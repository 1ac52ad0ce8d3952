package archive

import (
	"archive/tar"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"drift-detector/internal/lazyregexp"
	"drift-detector/report/code"
)

// Mode is what a backup is restored with, which decides what controllers find.
type Mode string

const (
	ByVelero     Mode = "velero"     // without status and ownerReferences
	ByClusterctl Mode = "clusterctl" // without status; objects get their owners again, and Clusters are unpaused at the end
)

// moved is the name of a file that 'clusterctl move --to-directory' writes: KIND_NAMESPACE_NAME.yaml,
// which holds JSON all the same (getFilename in cmd/clusterctl/client/cluster/objectgraph.go,
// backupTargetObject in mover.go v1.13.4). No part of it can hold a line below.
var moved = lazyregexp.New(`^([A-Z][A-Za-z0-9]*)_([a-z0-9-]*)_([a-z0-9.-]+)\.yaml$`)

// isCluster reports whether a file is one of a Cluster, of which each move has one at least.
func isCluster(file string) bool {
	return strings.HasPrefix(file, "Cluster_") && moved.MatchString(file)
}

// movesIn names the folders in a folder that a move wrote, the last one by name first: EKS Anywhere
// makes one at each upgrade, named after the time.
func movesIn(dir string) (found []string) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range slices.Backward(all) {
		if e.IsDir() && holdsCluster(filepath.Join(dir, e.Name())) {
			found = append(found, e.Name())
		}
	}
	return found
}

// holdsCluster reports whether a folder has the file of a Cluster.
func holdsCluster(name string) bool {
	dir, err := os.Open(name)
	if err != nil {
		return false
	}
	defer dir.Close()
	for read := 0; read <= maxMoved; {
		some, err := dir.Readdirnames(1000)
		if slices.ContainsFunc(some, isCluster) {
			return true
		}
		if err != nil {
			return false
		}
		read += len(some)
	}
	return false
}

// maxMoved is how many objects a folder may hold: 100,000 machines have 700,000.
const maxMoved = 1_000_000

// moveFolder is such a folder.
type moveFolder struct {
	name  string
	files []string // those of Clusters first
}

// asMoveFolder reads the names in a folder; nil where it is of another kind.
func asMoveFolder(name string) (*moveFolder, error) {
	dir, err := os.Open(name)
	if err != nil {
		return nil, openError(name, err)
	}
	defer dir.Close()
	m := &moveFolder{name: name}
	var clusters, others []string
	foreign := ""
	for {
		some, err := dir.ReadDir(1000)
		for _, e := range some {
			switch {
			case !e.Type().IsRegular() || !moved.MatchString(e.Name()):
				foreign = e.Name()
			case isCluster(e.Name()):
				clusters = append(clusters, e.Name())
			default:
				others = append(others, e.Name())
			}
		}
		switch {
		case len(clusters)+len(others) > maxMoved:
			return nil, m.refuse(fmt.Sprintf("holds more than %d files", maxMoved), nextOrigin)
		case err != nil && err != io.EOF:
			return nil, openError(name, err)
		case err != nil && len(clusters) == 0:
			return nil, nil
		case err != nil && foreign != "":
			return nil, m.refuse("a folder of 'clusterctl move' that holds something else, "+foreign+", at which 'clusterctl move --from-directory' fails", "take it out, and look at what it is first")
		case err != nil:
			slices.Sort(clusters)
			slices.Sort(others)
			m.files = append(clusters, others...)
			return m, nil
		}
	}
}

func (m *moveFolder) refuse(problem, next string) error {
	return &InputError{Name: m.name, Problem: problem, Next: next}
}

// source returns the folder as a backup.
func (m *moveFolder) source() Source {
	var last *moving
	return Source{
		Name: m.name, Mode: ByClusterctl,
		Open: func() (io.ReadCloser, error) {
			root, err := os.OpenRoot(m.name)
			if err != nil {
				return nil, err
			}
			p := &moving{moveFolder: m, root: root, uids: map[string]bool{}, members: map[string]count{}}
			last = p
			out, in := io.Pipe()
			go func() {
				defer root.Close()
				in.CloseWithError(p.write(in))
			}()
			return out, nil
		},
		Unread: func() map[string]string {
			if last == nil || last.torn == "" {
				return nil
			}
			return map[string]string{machinesResource: last.torn}
		},
	}
}

const machinesResource = "machines.cluster.x-k8s.io"

// moving is one reading of a folder.
type moving struct {
	*moveFolder
	root      *os.Root
	from, to  time.Time // when clusterctl paused the Clusters; zero where they don't say it
	first     string    // the Cluster that it paused first
	uids      map[string]bool
	refs      []reference
	owners    []numbered
	members   map[string]count // Machines by the uid of an owner
	ownerless string           // an object that clusterctl would neither have written nor restores
	torn      string           // what shows that the folder is not whole, or is of two moves
}

// reference is what has to be in the folder where who is: by uid, or by the name of its file.
type reference struct{ who, what, as string }

// numbered is an owner of Machines that says how many it has.
type numbered struct {
	title, uid string
	replicas   int
}

type count struct{ all, deleting int }

// movedObject is what is read of an object to see whether the folder is whole.
type movedObject struct {
	APIVersion, Kind string
	Metadata         struct {
		Namespace, Name, UID string
		DeletionTimestamp    string
		Labels               map[string]string
		OwnerReferences      []struct{ Kind, Name, UID string }
		ManagedFields        []struct {
			Manager  string
			Time     time.Time
			FieldsV1 struct {
				Spec struct {
					Paused *struct{} `json:"f:paused"`
				} `json:"f:spec"`
			}
		}
	}
	Spec struct {
		Paused            bool
		InfrastructureRef struct{ Kind, Namespace, Name string }
	}
	Status struct{ Replicas *int }
}

func (o *movedObject) title() string {
	return o.Kind + " " + o.Metadata.Namespace + "/" + o.Metadata.Name
}

// write writes the folder as a stream in Velero's layout, a file at a time.
func (m *moving) write(to io.Writer) error {
	w := tar.NewWriter(to)
	if err := entry(w, versionPath, time.Time{}, []byte("1.1.0\n")); err != nil {
		return err
	}
	for _, name := range m.files {
		body, changed, err := m.read(name)
		if err != nil {
			return err
		}
		var o movedObject
		if err := json.Unmarshal(body, &o); err != nil {
			return m.refuse(name+" is cut short, or not of clusterctl, which writes JSON into it", "the move broke off or the copy did: give one that ended without an error, or copy the folder again")
		}
		if of := moved.FindStringSubmatch(name); of[1] != o.Kind || of[2] != o.Metadata.Namespace || of[3] != o.Metadata.Name || o.Metadata.UID == "" {
			return m.refuse(name+" holds another object than its name says", "give the folder as 'clusterctl move --to-directory' wrote it")
		}
		if err := m.note(name, &o); err != nil {
			return err
		}
		group, _, grouped := strings.Cut(o.APIVersion, "/")
		if !grouped {
			group = ""
		}
		if err := entry(w, Path(ResourceOf(o.Kind, group), Form{}, o.Metadata.Namespace, o.Metadata.Name), cmp.Or(m.to, changed), body); err != nil {
			return err
		}
	}
	m.torn = m.tear()
	return w.Close()
}

func entry(w *tar.Writer, path string, at time.Time, body []byte) error {
	if err := w.WriteHeader(&tar.Header{Name: path, Mode: 0o755, Size: int64(len(body)), Typeflag: tar.TypeReg, ModTime: at}); err != nil {
		return err
	}
	_, err := w.Write(body)
	return err
}

// read reads a file whose size is within bounds. Links are not followed out of the folder.
func (m *moving) read(name string) ([]byte, time.Time, error) {
	f, err := m.root.Open(name)
	if err != nil {
		return nil, time.Time{}, readError{err}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > DefaultBounds.Item {
		return nil, time.Time{}, m.refuse(fmt.Sprintf("%s is no file of at most %d bytes", name, DefaultBounds.Item), nextOrigin)
	}
	body, err := io.ReadAll(io.LimitReader(f, DefaultBounds.Item))
	return body, info.ModTime().UTC(), err
}

// apart is how long clusterctl may take to pause all Clusters of one move.
const apart = 10 * time.Minute

// note takes what an object says about the whole.
func (m *moving) note(file string, o *movedObject) error {
	m.uids[o.Metadata.UID], m.uids[file] = true, true
	if m.ownerless == "" && len(o.Metadata.OwnerReferences) == 0 && !m.moves(o) {
		m.ownerless = o.title()
	}
	for _, by := range o.Metadata.OwnerReferences {
		m.refs = append(m.refs, reference{o.title(), by.Kind + " " + by.Name, by.UID})
		if o.Kind == "Machine" {
			n := m.members[by.UID]
			n.all++
			if o.Metadata.DeletionTimestamp != "" {
				n.deleting++
			}
			m.members[by.UID] = n
		}
	}
	switch o.Kind {
	case "Machine":
		r := o.Spec.InfrastructureRef
		m.refs = append(m.refs, reference{o.title(), r.Kind + " " + r.Name, r.Kind + "_" + cmp.Or(r.Namespace, o.Metadata.Namespace) + "_" + r.Name + ".yaml"})
	case "MachineSet", "KubeadmControlPlane":
		if o.Status.Replicas != nil {
			m.owners = append(m.owners, numbered{o.title(), o.Metadata.UID, *o.Status.Replicas})
		}
	case "Cluster":
		return m.paused(o)
	}
	return nil
}

// owned are the groups whose objects clusterctl moves with the Cluster that owns them, through others
// or by itself. Of other groups, of identities and of pools of addresses it moves what their
// definitions are labelled for, which the folder does not show.
var (
	owned   = lazyregexp.New(`^((cluster|controlplane\.cluster|bootstrap\.cluster|infrastructure\.cluster)\.x-k8s\.io/.*|v1)$`)
	unowned = lazyregexp.New(`^(Cluster|ClusterClass)$|(Identity|IPPool)$`)
)

// moves reports whether clusterctl moves an object that has no owner: what is labelled for that, and
// a Secret whose name is one of a Cluster (objMetaToNode, setSoftOwnership, getMoveNodes in
// cmd/clusterctl/client/cluster/objectgraph.go v1.12.8 to v1.14.2).
func (m *moving) moves(o *movedObject) bool {
	for label := range o.Metadata.Labels {
		if strings.HasPrefix(label, "clusterctl.cluster.x-k8s.io/move") {
			return true
		}
	}
	cluster := code.OfSecret(o.Metadata.Name) // Clusters come first
	return o.Metadata.Namespace == "" || !owned.MatchString(o.APIVersion) || unowned.MatchString(o.Kind) ||
		o.Kind == "Secret" && m.uids["Cluster_"+o.Metadata.Namespace+"_"+cluster+".yaml"]
}

// paused notes when clusterctl paused a Cluster, which it does before it writes anything
// (toDirectory in mover.go v1.13.4).
func (m *moving) paused(o *movedObject) error {
	if !o.Spec.Paused {
		return m.refuse(o.title()+" is not paused in it, as clusterctl pauses each before it writes it", "give the folder as 'clusterctl move --to-directory' wrote it")
	}
	for _, f := range o.Metadata.ManagedFields {
		if f.FieldsV1.Spec.Paused == nil || f.Manager != "clusterctl" || f.Time.IsZero() {
			continue
		}
		if m.from.IsZero() || f.Time.Before(m.from) {
			m.from, m.first = f.Time.UTC(), o.title()
		}
		if f.Time.After(m.to) {
			m.to = f.Time.UTC()
		}
		if m.to.Sub(m.from) > apart {
			return m.refuse(fmt.Sprintf("it holds Clusters of two moves: clusterctl paused %s on %s, and %s on %s", m.first, m.from.Format(time.DateTime), o.title(), m.to.Format(time.DateTime)), "give one move a folder of its own")
		}
	}
	return nil
}

// tear says what shows that the folder lacks files or has some of another move, or is empty.
// clusterctl writes owners before what they own, and what has an owner elsewhere it neither
// writes nor restores (getMoveSequence in mover.go v1.13.4).
func (m *moving) tear() string {
	const why = "the folder is half written, or holds files of two moves"
	for _, r := range m.refs {
		if !m.uids[r.as] {
			return fmt.Sprintf("%s needs %s, which is not in it: %s", r.who, r.what, why)
		}
	}
	if m.ownerless != "" {
		return m.ownerless + " has no owner in it, and clusterctl neither writes nor restores what no Cluster owns: the folder was changed by hand"
	}
	for _, o := range m.owners {
		if n := m.members[o.uid]; n.all < o.replicas || n.all-n.deleting > o.replicas {
			return fmt.Sprintf("%s counted %d of its Machines when it was written, and it holds %d: %s", o.title, o.replicas, n.all, why)
		}
	}
	return ""
}
