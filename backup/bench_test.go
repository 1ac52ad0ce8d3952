//go:build unix

package backup_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mholt/archiver/v3"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

// Benchmark loads synthetic backups and unpacks the same bytes with gunzip
// alone, in turns, so that the ratios hold on a busy machine:
//
//	go test ./backup -run '^$' -bench '/machines=1000$' -benchtime 10x
func Benchmark(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("machines=%d", n), func(b *testing.B) {
			data := synthetic(b, n)
			var gunzip, load cost
			var held uint64
			b.Logf("%d bytes", len(data))
			b.ResetTimer()
			for b.Loop() {
				gunzip.add(func() {
					if err := (&archiver.Gz{SingleThreaded: true}).Decompress(bytes.NewReader(data), io.Discard); err != nil {
						b.Fatal(err)
					}
				})
				var s *backup.Snapshot
				before := liveHeap()
				load.add(func() {
					var err error
					s, _, err = backup.Load(context.Background(), []backup.Source{backuptest.Source("synthetic", data)}, benchWant)
					if err != nil {
						b.Fatal(err)
					}
				})
				held = liveHeap() - before
				if len(s.Machines) != n || benchVMs.In(s).Len() != n || len(s.Problems) > 0 {
					b.Fatalf("%d machines, %d VMs, problems %v", len(s.Machines), benchVMs.In(s).Len(), s.Problems)
				}
			}
			b.ReportMetric(load.cpu.Seconds()/gunzip.cpu.Seconds(), "cpu/gunzip")
			b.ReportMetric(load.wall.Seconds()/gunzip.wall.Seconds(), "wall/gunzip")
			b.ReportMetric(float64(len(data))*float64(b.N)/1e6/load.cpu.Seconds(), "MB/cpu-s")
			b.ReportMetric(float64(held)/float64(n), "heap-B/machine")
		})
	}
}

// cost is CPU time, user and system, and wall time.
type cost struct{ cpu, wall time.Duration }

func (c *cost) add(f func()) {
	cpu, wall := cpuTime(), time.Now()
	f()
	c.cpu += cpuTime() - cpu
	c.wall += time.Since(wall)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// benchVM is what a provider for vSphere reads of a VM.
type benchVM struct {
	BIOS, Server, Datacenter, Folder, Ref string
	Addresses                             []string
}

var (
	benchVMs = backup.NewKind("vspherevms.infrastructure.cluster.x-k8s.io",
		backup.Text(func(v *benchVM) *string { return &v.BIOS }, "spec.biosUUID"),
		backup.Text(func(v *benchVM) *string { return &v.Server }, "spec.server"),
		backup.Text(func(v *benchVM) *string { return &v.Datacenter }, "spec.datacenter"),
		backup.Text(func(v *benchVM) *string { return &v.Folder }, "spec.folder"),
		backup.Text(func(v *benchVM) *string { return &v.Ref }, "status.vmRef"),
		backup.Texts(func(v *benchVM) *[]string { return &v.Addresses }, "status.addresses[]"),
	)
	benchMachines = backup.NewKind("vspheremachines.infrastructure.cluster.x-k8s.io",
		backup.Text(func(v *benchVM) *string { return &v.BIOS }, "spec.providerID"),
		backup.Text(func(v *benchVM) *string { return &v.Server }, "spec.server"),
	)
	benchWant = backup.Want{Kinds: []backup.AnyKind{benchVMs, benchMachines}, Secrets: []backup.SecretRule{
		{Name: "*-kubeconfig", Type: "cluster.x-k8s.io/secret", Keys: []string{"value"}},
	}}
)

// synthetic returns a backup of n machines in the manner of the lab's: the objects of
// one lab machine and the noise of a cluster, over and over under new names,
// uids, times and versions, and a Secret of bootstrap data for each machine.
func synthetic(b *testing.B, n int) []byte {
	const machine = "alpha-prod-md-0"
	type template struct{ resource, body, name string }
	var templates []template
	taken := map[string]int{}
	limits := map[string]int{
		"pods": 4, "events": 6, "secrets": 1, "configmaps": 2, "replicasets.apps": 3, "deployments.apps": 1, "services": 1, "serviceaccounts": 2,
	}
	backuptest.Rewrite(b, lab, func(path string, body []byte) ([]byte, bool) {
		parts := strings.Split(strings.TrimSuffix(path, ".json"), "/")
		if len(parts) != 5 || parts[2] != "namespaces" {
			return nil, false
		}
		resource, name := parts[1], parts[4]
		limit := limits[resource]
		if strings.HasPrefix(name, machine) && strings.Count(name, "-") == 5 && strings.Contains(resource, "cluster.x-k8s.io") {
			limit = 1
		}
		if taken[resource] < limit {
			taken[resource]++
			templates = append(templates, template{resource, string(body), name})
		}
		return nil, false
	})
	r := rand.New(rand.NewPCG(7, uint64(n)))
	t := backuptest.New()
	version := regexp.MustCompile(`"apiVersion":"(?:[^"/]*/)?([^"]*)"`)
	namespace := regexp.MustCompile(`"namespace":"([^"]*)"`)
	for _, tm := range templates {
		preferred := version.FindStringSubmatch(tm.body)[1] + "-preferredversion"
		in := namespace.FindStringSubmatch(tm.body)[1]
		places := varying.FindAllStringIndex(tm.body, -1)
		for i := range n {
			name := fmt.Sprintf("%s-%06d", tm.name, i)
			body := []byte(tm.body)
			for _, at := range places {
				vary(r, body[at[0]:at[1]])
			}
			body = bytes.ReplaceAll(body, []byte(`"`+tm.name+`"`), []byte(`"`+name+`"`))
			t.Raw(backuptest.Path(tm.resource, "", in, name), body)
			t.Raw(backuptest.Path(tm.resource, preferred, in, name), body)
		}
	}
	for i := range n {
		data := make([]byte, 6<<10)
		for j := range data {
			data[j] = byte(r.Uint32())
		}
		t.Add("secrets", map[string]any{
			"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
			"metadata": map[string]any{"namespace": "tenant-alpha", "name": fmt.Sprintf("%s-%06d-bootstrap", machine, i)},
			"data":     map[string]any{"value": data},
		})
	}
	return t.Bytes()
}

// varying is what differs between objects of one kind: uids and hashes, the
// seconds of times, resource versions.
var varying = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,}|:[0-5][0-9]Z|"resourceVersion":"[0-9]+`)

// vary replaces hexadecimal digits after the last colon by random ones; where
// there are only decimal ones, they stay such.
func vary(r *rand.Rand, text []byte) {
	text = text[bytes.LastIndexByte(text, ':')+1:]
	digits := "0123456789abcdef"
	if len(text) < 16 {
		digits = digits[:10]
	}
	for i, c := range text {
		if '0' <= c && c <= '9' || 'a' <= c && c <= 'f' {
			text[i] = digits[r.IntN(len(digits))]
		}
	}
	if len(text) == 3 { // seconds
		text[0] = '0'
	}
}
