package detector

import (
	"fmt"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
)

// fleet has n machines in clusters of 1,000, each with its instance except for one
// in twenty, as many instances without a machine, and Node lists.
func fleet(n int) *scene {
	s := emptyScene()
	s.snap.Backups = []backup.Info{{WrittenTo: written}}
	s.list(vc).Clusters = nil
	s.expected.Machines = make([]infra.ExpectedMachine, 0, n)
	for i := range n {
		id := backup.ClusterID{Namespace: "tenant", Name: fmt.Sprintf("c%04d", i/1000)}
		if i%1000 == 0 {
			s.cluster(id)
			s.hint(infra.Medium, key("stem", id.Name), infra.OwnerID{Cluster: id, Kind: machineSet, Name: "md-bcdfg"}, 4)
		}
		name := fmt.Sprintf("%s-md-bcdfg-%06d", id.Name, i)
		c := s.machine(id, name, i%1000 < 3)
		c.Weak = []infra.Key{weakly(name + "|f")}
		k := []infra.Key{bios("b-" + name), uuid("i-" + name), ref("r-" + name), named(name), weakly(name + "|f"), key("folder", "f"), key("datacenter", "DC0"), key("datacenter", "/DC0"), key("vmx", name)}
		if i%20 == 0 {
			k = append(k[:0], bios("g-"+name), uuid("h-"+name), ref("g-"+name), named("ghost-"+name), key("stem", id.Name), key("folder", "f"))
		}
		s.vm(name, k...)
		s.node(id, k[0], name)
	}
	return s
}

func BenchmarkDetect(b *testing.B) {
	for _, n := range []int{1000, 100000} {
		s := fleet(n)
		inv := s.inventory()
		b.Run(fmt.Sprintf("machines=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := Detect(&s.snap, s.expected, inv, Options{Now: noon})
				if len(r.Clusters) != n/1000 {
					b.Fatalf("%d clusters", len(r.Clusters))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/machine")
		})
	}
}
