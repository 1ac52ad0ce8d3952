package aws_test

import (
	"testing"

	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
)

// Law 6 and law 2 on AWS: an instance that runs under the name of a machine whose own is
// off or gone is a witness; one in another VPC is not.
func TestLaw6OnAWS(t *testing.T) {
	const mine, name = "i-035ae9b2ba55405fa", "prod-a-md-0-vm488-ncflr"
	stop := func(i *lab.EC2Instance) { i.State = lab.EC2State{Code: 80, Name: "stopped"} }
	end := func(i *lab.EC2Instance) { i.State = lab.EC2State{Code: 48, Name: "terminated"} }
	byName := runs.Tagged("i-0aaaaaaaaaaaaaaa1", prodVPC, ownedByProd, "CAPA/role=node", "Name="+name)
	byMachine := runs.Tagged("i-0aaaaaaaaaaaaaaa1", prodVPC, ownedByProd, "CAPA/role=node", "MachineName=team-a/"+name, "Name="+name)
	for title, c := range map[string]struct {
		change         func(e *lab.EC2)
		status, reason string
	}{
		"gone, MachineName runs":    {func(e *lab.EC2) { forget(e, mine); e.Add(byMachine) }, "Unknown", "IdentityChanged"},
		"gone, Name runs":           {func(e *lab.EC2) { forget(e, mine); e.Add(byName) }, "Unknown", "IdentityChanged"},
		"gone, Name in another VPC": {func(e *lab.EC2) { forget(e, mine); i := byName; i.VPC = strangeVPC; e.Add(i) }, "Stale", "InstanceNotFound"},
		"ended, MachineName runs":   {func(e *lab.EC2) { onInstance(t, e, mine, end); e.Add(byMachine) }, "Unknown", "IdentityChanged"},
		"ended, Name runs":          {func(e *lab.EC2) { onInstance(t, e, mine, end); e.Add(byName) }, "Unknown", "IdentityChanged"},
		"stopped":                   {func(e *lab.EC2) { onInstance(t, e, mine, stop) }, "Healthy", ""},
		"stopped, MachineName runs": {func(e *lab.EC2) { onInstance(t, e, mine, stop); e.Add(byMachine) }, "Unknown", "AmbiguousMatch"},
		"stopped, Name runs":        {func(e *lab.EC2) { onInstance(t, e, mine, stop); e.Add(byName) }, "Unknown", "AmbiguousMatch"},
	} {
		t.Run(title, func(t *testing.T) {
			w, ec2 := runs.CAPAFleet(t)
			c.change(ec2)
			m := w.DetectAWS().Machine(t, "team-a/"+name)
			if string(m.Status) != c.status || string(m.Reason) != c.reason {
				t.Errorf("%s %s: %s; want %s %s", m.Status, m.Reason, m.Message, c.status, c.reason)
			}
		})
	}
}
