package aws_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
)

// takenOut takes an object out of the backup.
func takenOut(o map[string]any) { delete(o, "kind") }

// within returns the object at a path of members, made where it is missing.
func within(o map[string]any, path ...string) map[string]any {
	for _, p := range path {
		next, ok := o[p].(map[string]any)
		if !ok {
			next = map[string]any{}
			o[p] = next
		}
		o = next
	}
	return o
}

// setTag sets a tag of an instance, or takes it away when the value is empty.
func setTag(i *lab.EC2Instance, key, value string) {
	i.Tags = slices.DeleteFunc(i.Tags, func(t lab.EC2Tag) bool { return t.Key == key })
	if value != "" {
		i.Tags = append(i.Tags, lab.EC2Tag{Key: key, Value: value})
	}
}

// onInstance changes one instance, which must be there.
func onInstance(t *testing.T, e *lab.EC2, id string, change func(*lab.EC2Instance)) {
	t.Helper()
	found := false
	e.Change(func(i *lab.EC2Instance) bool {
		if i.InstanceID == id {
			found = true
			change(i)
		}
		return true
	})
	if !found {
		t.Fatalf("AWS has no instance %s", id)
	}
}

// forget lets AWS list instances no more, as an hour after they ended.
func forget(e *lab.EC2, ids ...string) {
	e.Change(func(i *lab.EC2Instance) bool { return !slices.Contains(ids, i.InstanceID) })
}

// The Ghosts of prod-a, and what a cluster of its name of another team has.
var (
	capaGhosts    = []string{"i-39bb8f3c84d597662", "i-b86db5b19f886a092", "i-28679ab54033924b0"}
	capaDuplicate = "i-37c0ec295240bd0b2"
)

const (
	prodVPC     = "vpc-098a32b94490732ee"
	recordedID  = "i-0cc977649a46908b6" // of prod-a-md-1-7wl8v-wnvdh
	strangeVPC  = "vpc-0aaaaaaaaaaaaaaaa"
	ownedByProd = "CAPA/cluster/prod-a=owned"
)

// Nothing that has a cluster's mark is dropped, wherever it is, and a Ghost is what is
// where recorded machines of the cluster are.
func TestNothingWithOurMarkIsDropped(t *testing.T) {
	ghosts := func(duplicate string) map[string]string {
		want := map[string]string{capaDuplicate: duplicate}
		for _, id := range capaGhosts {
			want[id] = "Ghost"
		}
		return want
	}
	t.Run("AWSCluster without VPC", func(t *testing.T) {
		w, _ := runs.CAPAFleet(t)
		w.OnObject("awsclusters", "prod-a", func(o map[string]any) { delete(within(o, "spec", "network", "vpc"), "id") })
		o := w.DetectAWS()
		o.Demand(t, cli.ExitOK)
		o.Places(t, ghosts("infraMachines"))
	})
	t.Run("AWSCluster not in the backup", func(t *testing.T) {
		w, _ := runs.CAPAFleet(t)
		w.OnObject("awsclusters", "prod-a", takenOut)
		o := w.DetectAWS("--aws-ambient")
		o.Demand(t, cli.ExitOK)
		o.Places(t, ghosts("infraMachines"))
	})
	t.Run("another VPC", func(t *testing.T) {
		const beside, alone, two, unowned, named, cloud = "i-0aaaaaaaaaaaaaaa1", "i-0aaaaaaaaaaaaaaa2", "i-0aaaaaaaaaaaaaaa3", "i-0aaaaaaaaaaaaaaa4", "i-0aaaaaaaaaaaaaaa5", "i-0aaaaaaaaaaaaaaa6"
		const machine, role = "MachineName=team-a/prod-a-md-0-vm488-bcdfg", "CAPA/role=node"
		w, ec2 := runs.CAPAFleet(t)
		onInstance(t, ec2, recordedID, func(i *lab.EC2Instance) { i.VPC = strangeVPC })
		ec2.Add(
			runs.Tagged(beside, strangeVPC, ownedByProd, role, machine),
			runs.Tagged(alone, "vpc-0bbbbbbbbbbbbbbbb", ownedByProd, role, machine),
			runs.Tagged(two, "vpc-0bbbbbbbbbbbbbbbb", ownedByProd, "CAPA/cluster/other=owned", role, machine),
			runs.Tagged(unowned, "vpc-0bbbbbbbbbbbbbbbb", machine),
			runs.Tagged(named, "", "Name=prod-a-md-0-vm488-bcdfg"),
			runs.Tagged(cloud, "", "kubernetes.io/cluster/prod-a=owned"),
		)
		o := w.DetectAWS()
		o.Demand(t, cli.ExitOK)
		o.Places(t, map[string]string{
			beside: "Ghost", alone: "infraMachines", two: "infraMachines", unowned: "infraMachines", named: "infraMachines", cloud: "infraMachines",
		})
		if s := strength(o.Report, beside); s != "strong" {
			t.Errorf("the evidence for the Ghost is %s", s)
		}
	})
	t.Run("another cluster of the name", func(t *testing.T) {
		const theirs = "i-0aaaaaaaaaaaaaaa7"
		w, ec2 := runs.CAPAFleet(t)
		ec2.Add(runs.Tagged(theirs, "vpc-2560b4333beb8183a", ownedByProd, "CAPA/role=node", "MachineName=team-a/prod-a-md-0-vm488-bcdfg"))
		o := w.DetectAWS()
		o.Demand(t, cli.ExitOK)
		o.Places(t, map[string]string{capaDuplicate: "infraMachines", theirs: "infraMachines"})
	})
}

// CAPA reads AWSMachine.spec.providerID and nothing else. Where it is missing CAPA
// searches by name: what it takes then is what Healthy is said of.
func TestWhatCAPAFinds(t *testing.T) {
	const mine, name = "i-035ae9b2ba55405fa", "prod-a-md-0-vm488-ncflr"
	w, ec2 := runs.CAPAFleet(t)
	stop := func(i *lab.EC2Instance) { i.State = lab.EC2State{Code: 80, Name: "stopped"} }
	for title, c := range map[string]struct {
		machine        string
		change         func()
		status, reason string
	}{
		"its name is as it was":             {name, nil, "Healthy", ""},
		"its tag Name was changed":          {name, func() { onInstance(t, ec2, mine, func(i *lab.EC2Instance) { setTag(i, "Name", "x") }) }, "Unknown", "NotFoundByName"},
		"its tags were taken away":          {"prod-a-md-1-7wl8v-4vg5m", nil, "Unknown", "NotFoundByName"},
		"it is stopped":                     {name, func() { onInstance(t, ec2, mine, stop) }, "Unknown", "NotFoundByName"},
		"a look-alike has its name":         {"prod-a-md-0-vm488-vh4sh", nil, "Unknown", "AmbiguousMatch"},
		"a namesake runs, in whichever VPC": {name, func() { ec2.Add(runs.Tagged("i-0aaaaaaaaaaaaaaa1", strangeVPC, ownedByProd, "Name="+name)) }, "Unknown", "AmbiguousMatch"},
		"a namesake is stopped": {name, func() {
			i := runs.Tagged("i-0aaaaaaaaaaaaaaa1", strangeVPC, ownedByProd, "Name="+name)
			stop(&i)
			ec2.Add(i)
		}, "Healthy", ""},
	} {
		t.Run(title, func(t *testing.T) {
			w, ec2 = runs.CAPAFleet(t)
			if c.change != nil {
				c.change()
			}
			w.OnObject("awsmachines", c.machine, func(o map[string]any) { delete(within(o, "spec"), "providerID") })
			o := w.DetectAWS()
			o.Demand(t, cli.ExitOK)
			if m := o.Machine(t, "team-a/"+c.machine); string(m.Status) != c.status || string(m.Reason) != c.reason {
				t.Errorf("%s is %s %s: %s; want %s %s", c.machine, m.Status, m.Reason, m.Message, c.status, c.reason)
			}
		})
	}
}

// A VPC that was there before proves nothing, and every recorded instance may be gone:
// the account shows in the ARN of the recorded load balancer.
func TestEverythingWasReplaced(t *testing.T) {
	options := runs.CAPAEC2()
	options.SharedVPCs = map[string]string{prodVPC: lab.EC2Account}
	w, _ := runs.CAPAFleet(t)
	ec2 := runs.ServeEC2(t, options)
	ec2.Change(func(i *lab.EC2Instance) bool { return i.VPC != prodVPC || slices.Contains(capaGhosts, i.InstanceID) })
	o := w.DetectAWS()
	o.Demand(t, cli.ExitOK)
	for _, c := range o.Report.Clusters {
		for _, m := range runs.MachinesOf(c) {
			if c.Name == "prod-a" && m.Status == "Unknown" {
				t.Errorf("%s is Unknown %s: %s", m.Name, m.Reason, m.Message)
			}
		}
	}
	if m := o.Machine(t, "team-a/prod-a-control-plane-9dc85"); m.Status != "Stale" || m.Reason != "InstanceNotFound" {
		t.Errorf("a machine whose instance is gone is %s %s", m.Status, m.Reason)
	}
}

// A machine of a pool whose member was replaced is part of the set, listed or not.
func TestMembersThatWereReplaced(t *testing.T) {
	const gone = "i-bf018789bbaf35bb2"
	for _, listed := range []bool{true, false} {
		w, ec2 := runs.CAPAFleet(t)
		if !listed {
			forget(ec2, gone)
		}
		o := w.DetectAWS()
		o.Demand(t, cli.ExitOK)
		if m := o.Machine(t, "team-b/pool-b-mp-0-bx7b2"); m.Status != "Stale" || m.Reason != "PoolMember" {
			t.Errorf("listed %t: it is %s %s: %s", listed, m.Status, m.Reason, m.Message)
		}
		if p := o.Pool(t, "pool-b-mp-0"); p.Status == "NeedFurtherConfirmation" || p.State != "present" || len(p.Then) != 3 || len(p.Now) != 2 {
			t.Errorf("listed %t: the pool is %+v", listed, p)
		}
	}
}

// A key of the backup that AWS refuses is no dead end: the operator's own is used where
// he lets it be, and only there.
func TestLaw7ARefusedKeyHasAWayOut(t *testing.T) {
	options := runs.CAPAEC2()
	options.Keys = options.Keys[:1] // that of prod-a's account was changed
	w, _ := runs.CAPAFleet(t)
	runs.ServeEC2(t, options)
	refused := w.DetectAWS()
	refused.Demand(t, cli.ExitIncomplete)
	if m := refused.Machine(t, "team-a/prod-a-control-plane-9dc85"); m.Status != "Unknown" || !strings.Contains(refused.Stderr, "--aws-ambient") {
		t.Errorf("the machine is %s %s\n%s", m.Status, m.Reason, refused.Stderr)
	}
	own := w.DetectAWS("--aws-ambient")
	own.Demand(t, cli.ExitOK)
	if m := own.Machine(t, "team-a/prod-a-control-plane-9dc85"); m.Status != "Healthy" {
		t.Errorf("the machine is %s %s: %s", m.Status, m.Reason, m.Message)
	}
	const before, after = "if AWS refuses that key, your own AWS credentials (--aws-ambient)", "refuses the key of the backup: your own AWS credentials are used instead"
	if first, then := strings.Index(own.Stderr, before), strings.Index(own.Stderr, after); first < 0 || then < first {
		t.Errorf("stderr does not say which credential goes where:\n%s", own.Stderr)
	}
}

// Instances carry the time at which they came to be, of whatever age: what is younger
// than the backup needs no complete owner to be a Ghost.
func TestGhostsOfEveryAgeOnAWS(t *testing.T) {
	written := time.Date(2026, 11, 22, 2, 3, 29, 0, time.UTC)
	for title, c := range map[string]struct {
		made time.Time
		want string
	}{
		"an hour younger":        {written.Add(time.Hour), "Ghost"},
		"a month younger":        {written.Add(30 * 24 * time.Hour), "Ghost"},
		"an hour older":          {written.Add(-time.Hour), "Unknown"},
		"older than its cluster": {written.Add(-365 * 24 * time.Hour), "Unknown"},
	} {
		t.Run(title, func(t *testing.T) {
			w, ec2 := runs.CAPAFleet(t)
			for _, resource := range []string{"machines.cluster", "awsmachines"} {
				w.OnObject(resource, "prod-a-md-0-vm488-ncflr", takenOut) // its MachineSet had it
			}
			id := capaGhosts[1]
			onInstance(t, ec2, id, func(i *lab.EC2Instance) { i.LaunchTime = c.made })
			o := w.DetectAWS()
			o.Places(t, map[string]string{id: c.want})
			for _, cl := range o.Report.Clusters {
				for _, m := range runs.MachinesOf(cl) {
					if m.Instance != nil && m.Instance.ID == id && (m.Instance.Created == nil || !m.Instance.Created.Equal(c.made)) {
						t.Errorf("it was made at %v, want %s", m.Instance.Created, c.made)
					}
				}
			}
		})
	}
}

// A living instance with the machine's place and name is a witness, also while its own
// is still listed as ended.
func TestLaw2ALivingNameOnAWS(t *testing.T) {
	const mine, name = "i-035ae9b2ba55405fa", "prod-a-md-0-vm488-ncflr"
	again := runs.Tagged("i-0aaaaaaaaaaaaaaa1", prodVPC, ownedByProd, "CAPA/role=node", "MachineName=team-a/"+name, "Name="+name)
	for title, change := range map[string]func(*lab.EC2){
		"not listed any more": func(e *lab.EC2) { forget(e, mine) },
		"listed as ended": func(e *lab.EC2) {
			onInstance(t, e, mine, func(i *lab.EC2Instance) { i.State = lab.EC2State{Code: 48, Name: "terminated"} })
		},
	} {
		t.Run(title, func(t *testing.T) {
			w, ec2 := runs.CAPAFleet(t)
			change(ec2)
			if m := w.DetectAWS().Machine(t, "team-a/"+name); m.Status != "Stale" {
				t.Errorf("without another it is %s %s", m.Status, m.Reason)
			}
			ec2.Add(again)
			o := w.DetectAWS()
			if m := o.Machine(t, "team-a/"+name); m.Status != "Unknown" || m.Reason != "IdentityChanged" {
				t.Errorf("it is %s %s: %s", m.Status, m.Reason, m.Message)
			}
			o.Places(t, map[string]string{again.InstanceID: "infraMachines"})
		})
	}
}
