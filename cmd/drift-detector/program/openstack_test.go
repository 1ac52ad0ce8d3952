package program

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/lab/openstacklab"
)

// The fleet in testdata/openstack was made by real Cluster API 1.13.4 and CAPO 0.14.7 on
// a real OpenStack, and restored by them.
const openstackData = testdata + "openstack/"

// openstackFleet returns that fleet after its drift: the backup with the address and the
// certificate of a cloud that serves the recorded answers.
func openstackFleet(t *testing.T, o openstacklab.Options) (*world, *openstacklab.Server) {
	t.Helper()
	o.TLS = true
	cloud := openstacklab.Serve(t, openstackData+"after", o)
	w := &world{t: t, dir: t.TempDir()}
	file := filepath.Join(w.dir, "openstack-data.tar.gz")
	if err := os.WriteFile(file, atCloud(t, openstackData+"openstack-data.tar.gz", cloud), 0o600); err != nil {
		t.Fatal(err)
	}
	w.backups = []string{file}
	return w, cloud
}

// atCloud leads the credentials of a backup to a cloud.
func atCloud(t *testing.T, backup string, cloud *openstacklab.Server) []byte {
	t.Helper()
	return backuptest.Rewrite(t, backup, func(path string, body []byte) ([]byte, bool) {
		if !strings.HasPrefix(path, "resources/secrets/") || !strings.Contains(path, "cloud-config") {
			return body, true
		}
		var secret map[string]any
		if err := json.Unmarshal(body, &secret); err != nil {
			t.Fatal(err)
		}
		data := secret["data"].(map[string]any)
		text, err := base64.StdEncoding.DecodeString(data["clouds.yaml"].(string))
		if err != nil {
			t.Fatal(err)
		}
		led := strings.ReplaceAll(string(text), "http://127.0.0.1:6000/v3", cloud.Identity)
		data["clouds.yaml"] = base64.StdEncoding.EncodeToString([]byte(led))
		data["cacert"] = base64.StdEncoding.EncodeToString(cloud.CA)
		out, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		return out, true
	})
}

// withOpenStackNodes serves the Node lists of the fleet's workload clusters.
func (w *world) withOpenStackNodes() []string {
	w.t.Helper()
	nodes, err := lab.StartAPIServers(w.backups[0], openstackData+"nodes")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(nodes.Close)
	w.nodes = nodes
	return w.reach()
}

// openstackTruth is testdata/openstack/truth.json: what is so.
type openstackTruth struct {
	Machines []struct {
		Namespace, Machine, Expected string
		Acceptable                   []string
	}
	Servers []struct {
		ID, Name, Expected, Machine string
		Acceptable                  []string
	}
}

// openstackOutcomes is testdata/openstack/outcomes.json: what the controllers did.
type openstackOutcomes struct {
	Machines []struct{ Namespace, Name, Outcome string }
	Ghosts   []struct{ ID, Name, Code string }
}

// foretold are the codes of a forecast that say what the real controllers did.
var foretold = map[string][]string{
	"Adopted": {"Adopted"}, "AdoptedNotReady": {"Adopted"},
	"AdoptedByName":                {"AdoptedByName"},
	"AdoptedForeignByName":         {"OtherInstanceTaken"},
	"BlockedByDuplicateName":       {"Halted"},
	"CreateFailedPortInUse":        {"Halted"},
	"NewServerCreated":             {"NewInstanceNeverJoins"},
	"OrphanedAndReplaced":          {"OrphanedAndReplaced"},
	"ReplacedByMachineHealthCheck": {"ReplacedByMachineHealthCheck"},
	"StuckErrorState":              {"Halted"},
	"StuckNetworkGone":             {"Stuck", "StuckNodeLeft"},
	"StuckStopped":                 {"Stuck"},
}

// words translates the verdicts of a report into those of truth.json.
var openstackWords = map[string][]string{
	"infraMachines": {"Unknown"}, "nowhere": {"Unrelated"}, "NotProvisioned": {"Pending", "Stale"},
}

func (o outcome) demandOpenStack(t *testing.T, want openstackTruth) {
	t.Helper()
	placed := placementsOf(o.report)
	for _, m := range want.Machines {
		got, ok := placed.machines[m.Namespace+"/"+m.Machine]
		if !ok {
			t.Errorf("the report has no machine %s", m.Machine)
			continue
		}
		is := []string{string(got.machine.Status)}
		is = append(is, openstackWords[string(got.machine.Reason)]...)
		if !slices.ContainsFunc(is, func(s string) bool { return s == m.Expected || slices.Contains(m.Acceptable, s) }) {
			t.Errorf("machine %s is %s %s (%s), want %s %v", m.Machine, got.machine.Status, got.machine.Reason, got.machine.Message, m.Expected, m.Acceptable)
		}
	}
	for _, s := range want.Servers {
		where, _, _ := placementOfID(o.report, s.ID)
		is := append([]string{where}, openstackWords[where]...)
		if !slices.ContainsFunc(is, func(w string) bool { return w == s.Expected || slices.Contains(s.Acceptable, w) }) {
			t.Errorf("server %s %s is %s, want %s %v", s.Name, s.ID, where, s.Expected, s.Acceptable)
		}
	}
}

// demandOutcomes holds what is foretold against what the controllers did.
func (o outcome) demandOutcomes(t *testing.T, want openstackOutcomes) {
	t.Helper()
	placed := placementsOf(o.report)
	for _, m := range want.Machines {
		got := placed.machines[m.Namespace+"/"+m.Name].machine.Forecast
		if got == nil || !slices.Contains(foretold[m.Outcome], string(got.Outcome)) {
			t.Errorf("of %s %+v is foretold, and it came to %s", m.Name, got, m.Outcome)
		}
	}
	for _, g := range want.Ghosts {
		for _, c := range o.report.Clusters {
			for _, m := range machinesOf(c) {
				if g.Code != "" && m.Status == "Ghost" && m.Instance.ID == g.ID && string(m.Forecast.Outcome) != g.Code {
					t.Errorf("of %s %+v is foretold, and it came to %s", g.Name, m.Forecast, g.Code)
				}
			}
		}
	}
}

// Every verdict is right, and every outcome of the real restore is foretold.
func TestOpenStackFleet(t *testing.T) {
	t.Parallel()
	var truth openstackTruth
	var outcomes openstackOutcomes
	readJSON(t, openstackData+"truth.json", &truth)
	readJSON(t, openstackData+"outcomes.json", &outcomes)
	if len(truth.Machines) == 0 || len(truth.Servers) == 0 || len(outcomes.Machines) == 0 || len(outcomes.Ghosts) == 0 {
		t.Fatal("the oracle lacks something")
	}
	w, _ := openstackFleet(t, openstacklab.Options{})
	live := w.run(slices.Concat(w.sources(), w.withOpenStackNodes())...)
	for name, o := range map[string]outcome{
		"live": live, "without Nodes": w.run(append(w.sources(), "--skip-access-apiserver")...),
	} {
		t.Run(name, func(t *testing.T) {
			o.demand(t, cli.ExitOK)
			o.demandOpenStack(t, truth)
			o.demandOutcomes(t, outcomes)
		})
	}
}
