package oracle

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	names "k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var (
	program     = flag.String("program", "../../../bin/controllers/drift-detector", "drift-detector")
	inventories = flag.String("inventories", "../../../bin/controllers", "folder with the inventories of the lab's fleets")
	keep        = flag.String("keep", "", "keep each world that has an unexpected disagreement in this folder")
	worlds      = flag.Int("worlds", 6, "how many random worlds")
	seed        = flag.Int64("seed", 1, "seed of the first one")
	withEdits   = flag.String("edits", "", "no random history: these edits, comma-separated")
	withAfter   = flag.String("after", "", "no random history: what happened after the backup")
	withDamage  = flag.String("damage", "", "no random history: what is wrong with the backup")
	rounds      = flag.Int("rounds", untilRest, "no random history: rounds of the controllers between edits and backup")
	onlyCluster = flag.String("cluster", "", "worlds of this cluster only")
)

const testdata = "../.."

// longRun is a number of worlds in which each known fault shows itself. They run at once,
// so that the names that controllers make are chance; the worlds of a shorter run are the
// same each time, as far as the controllers decide nothing by the order of a map.
const longRun = 500

// fleet is a backup of the lab with the inventory of its time.
type fleet struct {
	backup   func() (*backup, error)
	listings func() (listings, error)
}

func newFleet(tarball, inventory string) fleet {
	return fleet{
		sync.OnceValues(func() (*backup, error) { return readBackup(filepath.Join(testdata, tarball)) }),
		sync.OnceValues(func() (listings, error) { return readListings(filepath.Join(*inventories, inventory)) }),
	}
}

var (
	drifted  = newFleet("fleet-data.tar.gz", "fleet.json")
	restored = newFleet("restore/restored-data.tar.gz", "restore.json")
)

// origin is a cluster of the lab from which worlds are made.
type origin struct {
	client.ObjectKey
	fleet
	base func() (*World, error) // the cluster at rest
}

func newOrigin(f fleet, namespace, name string) origin {
	at := client.ObjectKey{Namespace: namespace, Name: name}
	return origin{at, f, sync.OnceValues(func() (*World, error) {
		b, err := f.backup()
		if err != nil {
			return nil, err
		}
		return base(b, at)
	})}
}

// origins: delta-topo has a ClusterClass.
var origins = []origin{
	newOrigin(drifted, "tenant-alpha", "alpha-prod"), newOrigin(drifted, "tenant-alpha", "alpha-dev"),
	newOrigin(drifted, "tenant-gamma", "gamma-edge"), newOrigin(restored, "tenant-delta", "delta-topo"),
}

// history returns the one of the flags, or a random one.
func history(r *rand.Rand) History {
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(c rune) bool { return c == ',' })
	}
	if *withEdits+*withAfter+*withDamage != "" {
		return History{split(*withEdits), *rounds, split(*withAfter), split(*withDamage)}
	}
	return someHistory(r)
}

// rehearse restores one random world, and compares.
func rehearse(seed int64, dir string) (*Result, error) {
	r := rand.New(rand.NewSource(seed))
	from := pick(r, origins)
	for _, o := range origins {
		if o.Name == *onlyCluster {
			from = o
		}
	}
	h := history(r)
	return from.rehearse(h, r, seed, dir)
}

func (from origin) rehearse(h History, r *rand.Rand, seed int64, dir string) (*Result, error) {
	b, err := from.base()
	if err != nil {
		return nil, err
	}
	names.Seed(seed)
	w := b.clone(seed)
	w.startWorkload()
	if err := w.liveThrough(h, r); err != nil {
		return nil, err
	}
	l, err := from.listings()
	if err != nil {
		return nil, err
	}
	if err := w.write(filepath.Join(dir, "backup.tar.gz")); err != nil {
		return nil, err
	}
	if err := w.writeInventory(l, filepath.Join(dir, "inventory.json")); err != nil {
		return nil, err
	}
	f, err := forecast(*program, dir)
	if err != nil {
		return nil, err
	}
	res, err := w.restore()
	if err != nil {
		return nil, err
	}
	res.Forecast = f
	res.Disagreements = res.disagreements()
	res.explain(w)
	return res, nil
}

// A cluster that nothing happened to is restored with a YES: of one that is halted whatever
// happens to it, there is nothing to disagree about.
func TestUntouched(t *testing.T) {
	for _, o := range origins {
		res, err := o.rehearse(History{}, rand.New(rand.NewSource(1)), 1, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if res.Forecast.Safe != "yes" || len(res.Disagreements) > 0 {
			t.Errorf("%s: answer %s %v, %v", o, res.Forecast.Safe, res.Forecast.Reasons, res.Disagreements)
		}
	}
}

// The forecast and the answer agree with what the controllers do in random worlds, apart
// from what is known.
func TestWorlds(t *testing.T) {
	start := time.Now()
	var done, machines, restless atomic.Int64
	var mu sync.Mutex
	hits := map[string]int{}
	t.Run("world", func(t *testing.T) {
		for i := range *worlds {
			t.Run(fmt.Sprint(*seed+int64(i)), func(t *testing.T) {
				if *worlds >= longRun {
					t.Parallel()
				}
				dir := t.TempDir()
				res, err := rehearse(*seed+int64(i), dir)
				if err != nil {
					t.Fatal(err)
				}
				done.Add(1)
				machines.Add(int64(len(res.Fates)))
				if !res.Quiet {
					restless.Add(1)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, d := range res.Disagreements {
					hits[d.Expected]++
				}
				show(t, res, dir)
			})
		}
	})
	minutes := time.Since(start).Minutes()
	fmt.Printf("Cluster API %s: %d worlds, %d machines; %.0f worlds and %.0f machines a minute; %d worlds did not come to rest\n",
		Minor, done.Load(), machines.Load(), float64(done.Load())/minutes, float64(machines.Load())/minutes, restless.Load())
	for _, k := range known {
		switch {
		case hits[k.ID] > 0:
			fmt.Printf("%5d disagreements explained by %s: %s\n", hits[k.ID], k.ID, k.What)
		case *worlds >= longRun:
			fmt.Printf("      %s was not hit in %d worlds: mended? Then delete it from known. %s\n", k.ID, *worlds, k.What)
		}
	}
}

// show prints a world with an unexpected disagreement, and keeps it where that is wanted.
func show(t *testing.T, res *Result, dir string) {
	t.Helper()
	unexpected := false
	for _, d := range res.Disagreements {
		unexpected = unexpected || d.Expected == ""
	}
	text := fmt.Sprintf("%s %s: %s\n\tanswer %s %v, at rest %v, %d rounds", res.World, res.Cluster, strings.Join(res.What, "; "), res.Forecast.Safe, codes(res.Forecast), res.Quiet, res.Rounds)
	for _, d := range res.Disagreements {
		text += fmt.Sprintf("\n\t%s %s %s: %s", d.Expected, d.Kind, d.Machine, d.Text)
	}
	if !unexpected {
		if testing.Verbose() {
			t.Log(text)
		}
		return
	}
	t.Error(text)
	if *keep == "" {
		return
	}
	data, err := json.MarshalIndent(res, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(*keep, Minor+"-"+res.World)
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, "result.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}
