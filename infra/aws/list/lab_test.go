package list

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/infra/aws/awstest"
	"drift-detector/report"
	"drift-detector/report/code"
)

// verdicts is the lab's oracle.
type verdicts struct {
	Machines []struct {
		Namespace, Name, Status, Reason string
		Warnings                        []string
	}
	Pool      map[string]json.RawMessage
	Instances []struct{ ID, Placement, Cluster, Strength string }
}

func readVerdicts(t *testing.T) verdicts {
	t.Helper()
	data, err := os.ReadFile("../../../testdata/aws/verdicts.json")
	if err != nil {
		t.Fatal(err)
	}
	var v verdicts
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Machines) == 0 || len(v.Instances) == 0 {
		t.Fatal("the oracle is empty")
	}
	return v
}

// decide runs the whole way from claims to verdicts.
func decide(t *testing.T, s *backup.Snapshot, inv infra.Inventory) detector.Result {
	t.Helper()
	return detector.Detect(s, infra.NewRegistry(New()).Expected(s), inv, detector.Options{Now: time.Unix(1_800_000_000, 0)})
}

// outcome is a Result by names and ids.
type outcome struct {
	machines     map[string]detector.Verdict // by namespace/name
	ghosts       map[string]detector.Verdict // verdicts on instances without machine, by instance id
	unattributed map[string]detector.Unattributed
}

func outcomeOf(r detector.Result) outcome {
	o := outcome{map[string]detector.Verdict{}, map[string]detector.Verdict{}, map[string]detector.Unattributed{}}
	for _, c := range r.Clusters {
		for _, set := range append([]detector.Set{c.ControlPlane}, c.WorkerGroups...) {
			for _, v := range set.Machines {
				if v.UID == "" && v.Instance != nil {
					o.ghosts[v.Instance.ID] = *v
				} else {
					o.machines[v.Namespace+"/"+v.Name] = *v
				}
			}
		}
	}
	for _, u := range r.Unattributed {
		o.unattributed[u.Instance.ID] = u
	}
	return o
}

// agrees holds a result against the oracle.
func (o outcome) agrees(t *testing.T, want verdicts) {
	t.Helper()
	for _, m := range want.Machines {
		got, ok := o.machines[m.Namespace+"/"+m.Name]
		if !ok || string(got.Status) != m.Status || (m.Reason != "" && string(got.Reason) != m.Reason) {
			t.Errorf("machine %s is %s %s, want %s %s", m.Name, got.Status, got.Reason, m.Status, m.Reason)
		}
		for _, w := range m.Warnings {
			if !slices.ContainsFunc(got.Warnings, func(have report.Warning) bool { return string(have.Reason) == w }) {
				t.Errorf("machine %s lacks the warning %s", m.Name, w)
			}
		}
	}
	for _, i := range want.Instances {
		switch i.Placement {
		case "Ghost":
			if g, ok := o.ghosts[i.ID]; !ok || g.Status != code.Ghost || string(g.Evidence[0].Strength) != i.Strength {
				t.Errorf("instance %s is %+v, want a Ghost, %s", i.ID, g, i.Strength)
			}
		case "infraMachines":
			if _, ok := o.unattributed[i.ID]; !ok {
				t.Errorf("instance %s is not among those that need a person", i.ID)
			}
		default:
			t.Errorf("the oracle wants %s, which this test does not know", i.Placement)
		}
	}
}

// Every entry of the lab's oracle holds: on whole pages, on pages of three, with
// unrelated instances packed, and through a saved inventory.
func TestLabVerdicts(t *testing.T) {
	const unrelated = 20
	want := readVerdicts(t)
	s, secrets := load(t, fleet(t, awstest.Profile(awstest.LabKey, awstest.LabSecret, awstest.LabToken)))
	for name, page := range map[string]int{"one page": pageSize, "pages of 3": 3} {
		t.Run(name, func(t *testing.T) {
			o := fleetEC2()
			o.PageSize, o.Synthetic = page, unrelated
			serve(t, o, nil)
			inv := listAll(t, New(), s, secrets, infra.Access{})
			if l := inv.Listings[0]; l.State != code.ScopeComplete || l.Account != fleetAccount || len(l.Instances) != 11+unrelated || len(l.Unread) > 0 {
				t.Fatalf("the listing is %s of %s with %d instances, unread %v, fault %+v", l.State, l.Account, len(l.Instances), l.Unread, l.Fault)
			}
			outcomeOf(decide(t, s, inv)).agrees(t, want)
			packed := listRelated(t, New(), s, secrets, infra.Access{})
			if l := packed.Listings[0]; l.Count() != 11+unrelated || l.Unrelated.Len() != unrelated {
				t.Errorf("%d instances, %d of them unrelated VMs", l.Count(), l.Unrelated.Len())
			}
			if !reflect.DeepEqual(decide(t, s, packed), decide(t, s, inv)) {
				t.Error("with unrelated VMs the result is another")
			}

			var file bytes.Buffer
			if err := infra.WriteInventory(&file, inv); err != nil {
				t.Fatal(err)
			}
			saved, err := infra.ReadInventory(&file)
			if err != nil {
				t.Fatal(err)
			}
			outcomeOf(decide(t, s, saved)).agrees(t, want)
		})
	}
}

// The members of the lab's pool have its key, and those of nobody else do.
func TestLabPool(t *testing.T) {
	var then, now []string
	want := readVerdicts(t)
	for field, list := range map[string]*[]string{"members then": &then, "members now": &now} {
		if err := json.Unmarshal(want.Pool[field], list); err != nil {
			t.Fatal(err)
		}
	}
	serve(t, fleetEC2(), nil)
	s, secrets := load(t, fleet(t, awstest.Profile(awstest.LabKey, awstest.LabSecret, awstest.LabToken)))
	expected := New().Expected(s)
	if len(expected.Pools) != 1 {
		t.Fatalf("there are %d pools, want 1", len(expected.Pools))
	}
	p := expected.Pools[0]
	if p.Name != "aws-prod-mp-0" || p.Kind != "MachinePool" || p.Target != fleetTarget || p.Desired != (backup.Number{N: 2, Known: true}) {
		t.Errorf("the pool is %+v", p)
	}
	var recorded []string
	for _, k := range p.Members {
		recorded = append(recorded, k.Value)
	}
	slices.Sort(then)
	if !slices.Equal(recorded, then) {
		t.Errorf("the backup records %v, want %v", recorded, then)
	}
	l := listAll(t, New(), s, secrets, infra.Access{}).Listings[0]
	var members []string
	for i := range l.Instances {
		if l.Instances[i].HasKey(p.Key) {
			members = append(members, l.Instances[i].ID)
		}
	}
	slices.Sort(now)
	if !slices.Equal(members, now) {
		t.Errorf("the members are %v, want %v", members, now)
	}
	if !slices.Contains(l.ProbesFound, p.Probe) {
		t.Error("the pool itself was not found")
	}
}

// The lab itself holds no credential of CAPA's.
func TestLabWithoutCredential(t *testing.T) {
	s, secrets := load(t, fleet(t, ""))
	inv := listAll(t, New(), s, secrets, infra.Access{})
	l := inv.Listings[0]
	if len(inv.Listings) != 1 || l.State != code.ScopeFailed || l.Fault.Reason != "NoCredential" || l.Fault.Hint == "" {
		t.Fatalf("the listing is %+v", l)
	}
	o := outcomeOf(decide(t, s, inv))
	for _, m := range readVerdicts(t).Machines {
		if v := o.machines[m.Namespace+"/"+m.Name]; v.Status != code.Unknown || v.Reason != "ScopeIncomplete" {
			t.Errorf("machine %s is %s %s", m.Name, v.Status, v.Reason)
		}
	}
}
