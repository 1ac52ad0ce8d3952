package rehearsal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/detector/rehearsal"
	"drift-detector/report"
	"drift-detector/report/code"
)

// cluster returns one cluster's forecast, and the names of its machines by outcome
// (of a ghost, the last folder of its path).
func (f *forecastOf) cluster(t *testing.T, name string) (rehearsal.Cluster, map[code.Outcome][]string) {
	t.Helper()
	machines, ghosts := f.by()
	for i, c := range f.result.Clusters {
		if c.ID.Name != name {
			continue
		}
		by := map[code.Outcome][]string{}
		for n, m := range machines {
			if strings.HasPrefix(n, name+"-") {
				by[m.Outcome] = append(by[m.Outcome], strings.TrimPrefix(n, name+"-"))
			}
		}
		for path, m := range ghosts {
			if n := path[strings.LastIndexByte(path, '/')+1:]; strings.HasPrefix(n, name+"-") {
				by[m.Outcome] = append(by[m.Outcome], strings.TrimPrefix(n, name+"-"))
			}
		}
		for _, names := range by {
			slices.Sort(names)
		}
		return f.forecast.Clusters[i], by
	}
	t.Fatalf("no cluster %s", name)
	return rehearsal.Cluster{}, nil
}

func same(t *testing.T, got map[code.Outcome][]string, want map[code.Outcome]string) {
	t.Helper()
	for o, names := range got {
		if strings.Join(names, " ") != want[o] {
			t.Errorf("%s: %q, want %q", o, names, want[o])
		}
	}
	for o, names := range want {
		if got[o] == nil {
			t.Errorf("%s: none, want %q", o, names)
		}
	}
}

func noted(c rehearsal.Cluster, reason code.Reason) bool {
	return slices.ContainsFunc(c.Notes, func(n report.Note) bool { return n.Code == reason })
}

// The lab's own backup, before anybody restored it.
func TestLab(t *testing.T) {
	f := foretell(t, "fleet-data.tar.gz", "vcenter-after.tar.gz", "nodes", false)
	machines, _ := f.by()

	t.Run("alpha-dev was deleted after the backup: all its machines come back as shells that nothing replaces, and its control plane cannot initialise", func(t *testing.T) {
		c, by := f.cluster(t, "alpha-dev")
		same(t, by, map[code.Outcome]string{code.Stuck: "md-0-pjr48-m4vlc md-0-pjr48-tc6jr md-1-zhpr5-7zdw7 nzj74"})
		if c.NotHealing != 4 || !noted(c, code.ControlPlaneGone) || c.ControlPlane.Etcd.Quorum != code.QuorumLost || c.ControlPlane.Remediates {
			t.Errorf("%+v", c)
		}
	})

	t.Run("beta-prod is not reconciled until its identity exists: then its three control-plane machines are adopted with their quorum, and its three dead workers stay because no health check covers them", func(t *testing.T) {
		c, by := f.cluster(t, "beta-prod")
		same(t, by, map[code.Outcome]string{
			code.Adopted:       "2f8p6 dttkj md-0-vtdj6-kgfxb md-0-vtdj6-rlsn9 md-0-vtdj6-rmm87 md-0-vtdj6-s4z5m md-1-69knr-hv7zw md-1-69knr-llzs4 qpdfs",
			code.Stuck:         "md-1-69knr-2p42j md-1-69knr-cwjbz",
			code.StuckNodeLeft: "md-0-vtdj6-2bngd",
		})
		for name, m := range machines {
			if strings.HasPrefix(name, "beta-prod-") && !strings.Contains(m.Condition, "only once VSphereClusterIdentity vcenter-shared") {
				t.Errorf("%s: %q", name, m.Condition)
			}
		}
		e := c.ControlPlane.Etcd
		if !noted(c, code.IdentityAbsent) || e.Quorum != code.QuorumStands || e.After != 3 || e.Removed != 0 {
			t.Errorf("%+v", c)
		}
		if got := fmt.Sprint(c.Groups[0].Replicas.Missing, c.Groups[1].Replicas.Missing); got != "1 2" {
			t.Errorf("missing %s", got)
		}
	})

	t.Run("gamma-edge keeps its single control plane, retries the machine whose template does not exist, and gets a second machine for the one that was being deleted", func(t *testing.T) {
		c, by := f.cluster(t, "gamma-edge")
		same(t, by, map[code.Outcome]string{
			code.Adopted:             "md-0-7n6v9-99892 md-0-7n6v9-cg4hx md-0-7n6v9-j95w5 md-1-rrrv7-v5mgp md-1-rrrv7-wbmw6 xk72k",
			code.Stuck:               "md-broken-7hlgf-9hlj8",
			code.OrphanedAndReplaced: "md-1-rrrv7-s6h7f",
			code.GhostKeepsRunning:   "md-0-7n6v9-4qtz2 md-0-7n6v9-svjwc",
		})
		if m := machines["gamma-edge-md-broken-7hlgf-9hlj8"]; !strings.Contains(m.Message, "no-such-template") || !strings.Contains(m.Condition, "until the cause is gone") {
			t.Errorf("%+v", m)
		}
		if r := c.Groups[1].Replicas; r.Created != 1 || r.Running != 4 || r.Surplus != 1 || r.Missing != 0 {
			t.Errorf("%+v", r)
		}
		if p := c.ControlPlane; p.Etcd.Quorum != code.QuorumStands || p.Remediates {
			t.Errorf("%+v", p)
		}
	})

	t.Run("alpha-prod was scaled up (two ghosts run on), scaled down (two shells stay), had one machine replaced (a shell and a ghost), has one powered off (CAPV starts it) and a copy that shares a BIOS UUID (deleting the machine destroys both)", func(t *testing.T) {
		c, by := f.cluster(t, "alpha-prod")
		same(t, by, map[code.Outcome]string{
			code.Adopted:           "jzxnt kcn2q md-0-cjzhw-dm6x8 md-0-cjzhw-mtswx md-0-cjzhw-zk8zm md-1-jqqjv-wvlnf md-gpu-tfdnj-l6m64 md-gpu-tfdnj-vlzbf nnxbq",
			code.AdoptedPoweredOn:  "md-0-cjzhw-7z9bm",
			code.Stuck:             "md-1-jqqjv-dgmm9 md-1-jqqjv-r8qdz md-gpu-tfdnj-2spl2",
			code.GhostKeepsRunning: "md-0-cjzhw-68lpw md-0-cjzhw-tqwxw md-gpu-tfdnj-8nwrw",
		})
		if m := machines["alpha-prod-jzxnt"]; !strings.Contains(m.Condition, "destroy every VM of its datacenter with that id") || !noted(c, code.DuplicateID) {
			t.Errorf("%+v", m)
		}
		var got []string
		for _, g := range c.Groups {
			got = append(got, fmt.Sprintf("+%d-%d", g.Replicas.Surplus, g.Replicas.Missing))
		}
		if want := "+2-0 +0-2 +0-1"; strings.Join(got, " ") != want || noted(c, code.RolledOut) {
			t.Errorf("%s, want %s; notes %v", got, want, c.Notes)
		}
	})
}
