package live_test

import (
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/formats"
	"drift-detector/report/message"
)

// No verdict comes from a kind that could not be read: what rests on it is Unknown, the kind is
// named, and the run ends with 3.
func TestLiveVerdictsRestOnWhatWasRead(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	inventory := w.Saved(t)
	const capi, vsphere = ".cluster.x-k8s.io", ".infrastructure.cluster.x-k8s.io"
	for kind, provider := range map[string]string{ // whose machines rest on it; empty: all
		"machines" + capi: "", "machinesets" + capi: "", "kubeadmcontrolplanes.controlplane" + capi: "", "clusters" + capi: "",
		"customresourcedefinitions.apiextensions.k8s.io": "",
		"vspherevms" + vsphere:                           "vsphere", "vspheremachines" + vsphere: "vsphere", "vsphereclusters" + vsphere: "vsphere",
		"awsmachines" + vsphere: "aws",
		"secrets":               "none", "kubeadmconfigs.bootstrap" + capi: "none", "machinehealthchecks" + capi: "none",
	} {
		for _, how := range []string{"forbidden", "broken", "unserved", "stale", "gone"} {
			if how != "forbidden" && !strings.HasSuffix(kind, capi) || how == "gone" && kind != "machines"+capi && kind != "machinesets"+capi && kind != "clusters"+capi {
				continue
			}
			t.Run(kind+" "+how, func(t *testing.T) {
				m, from := runs.Management(t, w.Backups[0])
				if kind == "machinehealthchecks"+capi {
					k := m.Kind(kind)
					k.Version, k.Kind, k.Namespaced = "v1beta2", "MachineHealthCheck", true
				}
				switch resource, group, _ := strings.Cut(kind, "."); how {
				case "unserved":
					m.Kind(kind).Unserved = true
				case "stale":
					m.Kind(kind).Stale = true
				case "gone":
					m.Kind(kind).Gone = true
				default:
					m.Before = func(w http.ResponseWriter, r *http.Request) bool {
						if strings.HasSuffix(r.URL.Path, "/"+resource) && strings.Contains(r.URL.Path, group) {
							lab.Refuse(w, map[string]int{"forbidden": 403, "broken": 500}[how], m.Token)
							return true
						}
						return false
					}
				}
				one := *w
				one.Dir = t.TempDir()
				o := one.Run(append(from, "--inventory", inventory)...)
				o.Demand(t, cli.ExitIncomplete)
				o.Keeps(t, m.Token)
				if !strings.Contains(o.Stderr, " of the management cluster: "+kind) || strings.Contains(o.Stderr, "take another backup") || strings.Contains(o.Stderr, "not read again") {
					t.Errorf("the kind is not named, as what it is:\n%s", o.Stderr)
				}
				for _, c := range o.Report.Clusters {
					for _, x := range runs.MachinesOf(c) {
						if c.Provider == provider || provider == "" {
							if x.Status != code.Unknown {
								t.Errorf("%s/%s is %s %s", c.Name, x.Name, x.Status, x.Reason)
							}
						}
					}
				}
			})
		}
	}
}

// Where what decides was not read, or no Cluster is there, no format says that nothing has drifted.
func TestLiveDriftOfWhatWasNotReadIsNotKnown(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	inventory := w.Saved(t)
	for name, c := range map[string]struct {
		breaks func(m *lab.Management)
		want   string
	}{
		"dropped": {func(m *lab.Management) {
			m.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if strings.HasSuffix(r.URL.Path, "/machines") {
					panic(http.ErrAbortHandler)
				}
				return false
			}
		}, "NOT KNOWN"},
		"empty": {func(m *lab.Management) {
			for _, id := range m.Kinds() {
				if strings.HasSuffix(id, ".cluster.x-k8s.io") && !strings.Contains(id, "template") {
					m.Kind(id).Objects = nil
				}
			}
		}, "NOT KNOWN, no Cluster is there"},
	} {
		t.Run(name, func(t *testing.T) {
			m, from := runs.Management(t, w.Backups[0])
			c.breaks(m)
			one := *w
			one.Dir = t.TempDir()
			o := one.Run(append(from, "--inventory", inventory)...)
			o.Demand(t, cli.ExitIncomplete)
			o.Keeps(t, m.Token)
			saved := filepath.Join(one.Dir, "report.json")
			for _, format := range formats.Report.Names() {
				out := runs.Run(t, "render", saved, "--format", format)
				out.Demand(t, cli.ExitOK)
				says := c.want
				if format == "prometheus" {
					says = "drift_detector_drift_known 0"
				}
				if format != "json" && !strings.Contains(out.Stdout, says) || strings.Contains(out.Stdout, "NONE") || strings.Contains(out.Stdout, "holds no machine") && name == "dropped" {
					t.Errorf("%s does not say %s:\n%.800s", format, says, out.Stdout)
				}
			}
			screen := runs.Run(t, slices.Concat([]string{"detect", "--inventory", inventory}, from)...)
			if !strings.Contains(screen.Stdout, c.want) || strings.Contains(screen.Stdout, "NONE") {
				t.Errorf("the screen:\n%s", screen.Stdout)
			}
			for _, send := range []func(io.Writer, *report.Report) error{message.About{}.Named("webhook"), message.About{}.Named("slack"), message.About{}.Named("teams")} {
				var body strings.Builder
				if err := send(&body, o.Report); err != nil || !strings.Contains(body.String(), c.want) || strings.Contains(body.String(), "NONE") {
					t.Errorf("%v %s", err, body.String())
				}
			}
		})
	}
}

// A VM whose infrastructure machine is left without its Machine is leaked, and costs money; where no
// Machine at all is listed, the list is not believed.
func TestLiveOrphansAreLeaked(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	inventory := w.Saved(t)
	const orphan = "alpha-prod-md-0-cjzhw-mtswx"
	for name, gone := range map[string]func(string) bool{
		"one": func(name string) bool { return name == orphan },
		"all": func(string) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			m, from := runs.Management(t, w.Backups[0])
			k := m.Kind("machines.cluster.x-k8s.io")
			k.Objects = slices.DeleteFunc(k.Objects, func(o map[string]any) bool { return gone(o["metadata"].(map[string]any)["name"].(string)) })
			run := *w
			run.Dir = t.TempDir()
			o := run.Run(append(from, "--inventory", inventory)...)
			if name == "all" {
				o.Demand(t, cli.ExitIncomplete)
				for _, d := range o.Report.Drift() {
					if d.Word != "UNKNOWN" {
						t.Errorf("%s is %s", d.Machine.Name, d.Word)
					}
				}
				for _, c := range o.Report.Clusters {
					if c.Counts.Healthy > 0 && c.Provider == "vsphere" {
						t.Errorf("%s has %+v", c.Name, c.Counts)
					}
				}
				if !strings.Contains(o.Stderr, "its list is empty") {
					t.Error(o.Stderr)
				}
				return
			}
			o.Demand(t, cli.ExitOK)
			found := ""
			for _, d := range o.Report.Drift() {
				if d.Machine.Name == orphan {
					found = d.Word + " " + d.Means()
				}
			}
			if !strings.HasPrefix(found, "LEAKED its VM") || !strings.HasSuffix(found, "and VSphereMachine tenant-alpha/"+orphan+" is left without its Machine: nobody deletes it") {
				t.Errorf("%s", found)
			}
			run.Run(append(from, "--inventory", inventory, "--fail-on", "leaked")...).Demand(t, cli.ExitFailOn)
		})
	}
}

// After a kind could not be read, no sentence says that one of its objects is not there, and the
// others are read.
func TestLiveUnreadIsNotAbsent(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	for _, how := range []string{"forbidden", "dropped"} {
		t.Run(how, func(t *testing.T) {
			m, from := runs.Management(t, w.Backups[0])
			m.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/secrets") {
					return false
				}
				if how == "dropped" {
					panic(http.ErrAbortHandler)
				}
				lab.Refuse(w, http.StatusForbidden, "no")
				return true
			}
			run := *w
			run.Dir = t.TempDir()
			o := run.Run(from...)
			o.Demand(t, cli.ExitIncomplete)
			if text := o.Stdout + o.Stderr + string(o.JSON); strings.Contains(text, "is not in the management cluster") || strings.Contains(text, "holds no Secret") || strings.Contains(text, "no kubeconfig in") || !strings.Contains(text, "could not be read") || strings.Contains(text, "machines.cluster.x-k8s.io (not read") {
				t.Errorf("%.3000s", text)
			}
			dry := runs.Run(t, append([]string{"detect", "--dry-run"}, from...)...)
			if strings.Contains(dry.Stdout, "is not in the") || strings.Contains(dry.Stdout, "holds no") || strings.Contains(dry.Stdout, "backup") {
				t.Errorf("%s", dry.Stdout)
			}
		})
	}
}

// A machine that is being deleted, by whatever object, is neither Healthy nor Stale, and its VM
// is no Ghost; the others are as they are.
func TestLiveMachineThatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	inventory := w.Saved(t)
	const since = "2026-11-01T10:00:00Z"
	before := w.Detect("--inventory", inventory)
	before.Demand(t, cli.ExitOK)
	for _, one := range []struct{ resource, name, cluster, machines string }{
		{"machines.cluster.x-k8s.io", "alpha-prod-nnxbq", "alpha-prod", "alpha-prod-nnxbq"},
		{"machines.cluster.x-k8s.io", "beta-prod-md-1-69knr-hv7zw", "beta-prod", "beta-prod-md-1-69knr-hv7zw"}, // its VM is gone
		{"vspheremachines.infrastructure.cluster.x-k8s.io", "alpha-prod-nnxbq", "alpha-prod", "alpha-prod-nnxbq"},
		{"vspherevms.infrastructure.cluster.x-k8s.io", "alpha-prod-nnxbq", "alpha-prod", "alpha-prod-nnxbq"},
		{"machinesets.cluster.x-k8s.io", "alpha-prod-md-0-cjzhw", "alpha-prod", "alpha-prod-md-0-cjzhw-"},
		{"clusters.cluster.x-k8s.io", "alpha-dev", "alpha-dev", "alpha-dev-"},
	} {
		t.Run(one.resource+" "+one.name, func(t *testing.T) {
			m, from := runs.Management(t, w.Backups[0])
			found := false
			for _, o := range m.Kind(one.resource).Objects {
				if meta := o["metadata"].(map[string]any); meta["name"] == one.name {
					meta["deletionTimestamp"], found = since, true
				}
			}
			if !found {
				t.Fatal("no such object")
			}
			run := *w
			run.Dir = t.TempDir()
			o := run.Run(append(from, "--inventory", inventory)...)
			o.Demand(t, cli.ExitOK)
			n := 0
			for i, c := range o.Report.Clusters {
				was := runs.MachinesOf(before.Report.Clusters[i])
				for _, x := range runs.MachinesOf(c) {
					switch at := slices.IndexFunc(was, func(y report.Machine) bool { return y.Name == x.Name && y.Role == x.Role }); {
					case c.Name == one.cluster && x.UID != "" && strings.HasPrefix(x.Name, one.machines):
						n++
						if x.Status != code.Unknown || x.Reason != code.BeingDeleted || !strings.Contains(x.Message, one.name+" is being deleted, since "+since) {
							t.Errorf("%s is %s %s: %s", x.Name, x.Status, x.Reason, x.Message)
						}
					case at < 0:
						t.Errorf("%s/%s is %s %s, and was not there", c.Name, x.Name, x.Status, x.Reason)
					case was[at].Status != x.Status && x.Status != code.Unknown:
						t.Errorf("%s/%s is %s, and was %s", c.Name, x.Name, x.Status, was[at].Status)
					}
				}
			}
			if n == 0 {
				t.Error("no machine is being deleted")
			}
		})
	}
}

// What happens to Machines while the infrastructure is listed makes none of them lost, and no VM
// one without a Machine.
func TestLiveMachinesThatChangeMeanwhile(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	inventory := w.Saved(t)
	const gone = "beta-prod-md-1-69knr-hv7zw" // Stale: its VM is gone
	before := w.Detect("--inventory", inventory)
	for name, one := range map[string]struct {
		second func(*lab.Listed, http.ResponseWriter) bool // before Machines are listed again
		code   cli.ExitCode
		check  func(c string, was, is report.Machine) bool
	}{
		"nothing": {nil, cli.ExitOK, func(_ string, was, is report.Machine) bool { return was.Status == is.Status }},
		"deleted": {func(k *lab.Listed, _ http.ResponseWriter) bool {
			k.Objects = slices.DeleteFunc(slices.Clone(k.Objects), func(o map[string]any) bool { return o["metadata"].(map[string]any)["name"] == gone })
			return false
		}, cli.ExitOK, func(_ string, was, is report.Machine) bool {
			return is.Name == gone && is.Reason == code.BeingDeleted || is.Name != gone && is.Status == was.Status
		}},
		"made": {func(k *lab.Listed, _ http.ResponseWriter) bool {
			for _, o := range slices.Clone(k.Objects) {
				if meta := o["metadata"].(map[string]any); strings.HasPrefix(meta["name"].(string), "alpha-prod-md-0") {
					one := maps.Clone(o)
					one["metadata"] = maps.Clone(meta)
					one["metadata"].(map[string]any)["uid"], one["metadata"].(map[string]any)["name"] = "new", "alpha-prod-md-0-cjzhw-zzzzz"
					k.Objects = append(k.Objects, one)
					return false
				}
			}
			return false
		}, cli.ExitOK, func(c string, was, is report.Machine) bool {
			return is.Status == was.Status && (c != "alpha-prod" || was.Status != code.Ghost) || c == "alpha-prod" && was.Status == code.Ghost && is.Reason == code.MachineNotInBackup && strings.Contains(is.Message, "zzzzz")
		}},
		"refused": {func(_ *lab.Listed, w http.ResponseWriter) bool {
			lab.Refuse(w, http.StatusForbidden, "no")
			return true
		}, cli.ExitIncomplete, func(_ string, _, is report.Machine) bool { return is.Status == code.Unknown }},
	} {
		t.Run(name, func(t *testing.T) {
			m, from := runs.Management(t, w.Backups[0])
			read := 0
			m.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/apis/cluster.x-k8s.io/v1beta2/machines" || r.URL.Query().Has("continue") {
					return false
				}
				if read++; read == 2 && one.second != nil {
					return one.second(m.Kind("machines.cluster.x-k8s.io"), w)
				}
				return false
			}
			run := *w
			run.Dir = t.TempDir()
			o := run.Run(append(from, "--inventory", inventory)...)
			o.Demand(t, one.code)
			if read != 2 {
				t.Errorf("Machines were listed %d times", read)
			}
			for i, c := range o.Report.Clusters {
				was := runs.MachinesOf(before.Report.Clusters[i])
				for j, is := range runs.MachinesOf(c) {
					if !one.check(c.Name, was[j], is) {
						t.Errorf("%s/%s is %s %s, and was %s: %s", c.Name, is.Name, is.Status, is.Reason, was[j].Status, is.Message)
					}
				}
			}
		})
	}
}
