package skeleton

import (
	"context"
	_ "embed"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/report/code"
)

const (
	group = "infrastructure.cluster.x-k8s.io"
	scope = "skeleton/rack-1"
)

var keySerial = infra.KeyKindOf("serial")

//go:embed permissions.md
var permissions string

type box struct{ Serial string }

var (
	machines = backup.NewKind("boxmachines."+group, backup.Text(func(b *box) *string { return &b.Serial }, "spec.serial"))
	clusters = backup.NewKind[struct{}]("boxclusters." + group)
)

// provider lists the boxes of one rack, by serial number.
type provider struct{ boxes map[string]string }

// New returns the provider of boxes.
func New() infra.Provider {
	return &provider{boxes: map[string]string{"1001": "box-a", "1002": "box-b"}}
}

func (p *provider) Spec() infra.Spec {
	return infra.Spec{
		Name: "skeleton", Title: "Racks", Supports: "CAPB v1beta2", Scope: "rack",
		Want: backup.Want{
			Kinds:   []backup.AnyKind{machines, clusters},
			Secrets: []backup.SecretRule{{Name: "rack", Keys: []string{"password"}}},
		},
		Keys: func(id string) []infra.Key {
			if serial, ok := strings.CutPrefix(id, "box://"); ok {
				return []infra.Key{{Kind: keySerial, Value: serial}}
			}
			return nil
		},
		MachineKinds: []infra.Kind{{Group: group, Kind: "BoxMachine", Plural: "boxmachines"}},
		ClusterKind:  infra.Kind{Group: group, Kind: "BoxCluster", Plural: "boxclusters"},
		Controller:   infra.Controller{Name: "CAPB", Makes: "switches a box on", ID: infra.IDInSpec},
		OnDelete:     "deleting a Machine makes CAPB switch its box off",
		Words:        map[string]string{keySerial.String(): "serial number"},
		Tool:         tool{},
		Permissions:  infra.Permissions{About: "says which list the account reads", Text: permissions, File: "permissions.md"},
	}
}

func (p *provider) Check(*backup.Snapshot, *backup.Secrets, time.Time) []check.Finding { return nil }

func (p *provider) Targets(s *backup.Snapshot, secrets *backup.Secrets, _ infra.Access) []infra.Target {
	if machines.In(s).Len() == 0 {
		return nil
	}
	t := infra.Target{IDs: []string{scope}, Provider: "skeleton", Endpoint: "rack-1.example:443"}
	if secret := secrets.Named(0, "boxes", "rack"); secret != nil {
		t.Credential, t.Redaction = secret.Value("password"), infra.NewRedaction(secret.Value("password"))
	}
	return []infra.Target{t}
}

func (p *provider) Reach(at string, _ infra.Sought) infra.Target {
	return infra.Target{Provider: "skeleton", Endpoint: at}
}

func (p *provider) Expected(s *backup.Snapshot) infra.Expected {
	serials := map[string]string{}
	for m := range machines.In(s).All() {
		serials[m.Name] = m.Data.Serial
	}
	e := infra.Expected{Providers: map[backup.ClusterID]string{}}
	for i := range s.Machines {
		m := &s.Machines[i]
		if m.Infrastructure.Kind != "BoxMachine" {
			continue
		}
		e.Providers[m.Cluster] = "skeleton"
		e.Machines = append(e.Machines, infra.ExpectedMachine{
			Machine: i, Provider: "skeleton", Home: infra.HomeScope{Target: scope},
			Strong: infra.Key{Kind: keySerial, Value: serials[m.Infrastructure.Name]}, Source: "BoxMachine.spec.serial",
			Reads: "BoxMachine.spec.serial", ReadsID: serials[m.Infrastructure.Name] != "",
		})
	}
	return e
}

func (p *provider) List(ctx context.Context, _ infra.Target) infra.Listing {
	if ctx.Err() != nil {
		return infra.Listing{State: code.ScopeFailed, Fault: &infra.Fault{Reason: code.Interrupted, Message: "it was interrupted"}}
	}
	l := infra.Listing{State: code.ScopeComplete}
	for _, serial := range []string{"1001", "1002"} {
		l.Instances = append(l.Instances, infra.Instance{
			Identity: "rack-1/" + serial, ID: serial, Name: p.boxes[serial], Keys: []infra.Key{{Kind: keySerial, Value: serial}},
		})
	}
	return l
}
