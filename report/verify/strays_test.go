package verify

import (
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// A VM that was made since, without a Machine, is found by its name or its marks, of workers and control
// planes; what only looks like one is a question, or nothing.
func TestVMsWithoutAMachine(t *testing.T) {
	const mark = "sigs.k8s.io/cluster-api-provider-aws/"
	young := now.Add(-time.Minute)
	for name, c := range map[string]struct {
		vm     report.Instance
		change func(*scene)
		want   Verdict // empty: not listed
	}{
		"of a MachineSet":               {vm: report.Instance{Name: "md-0-abcde-aaaaa", Path: "/dc/c/md-0-abcde-aaaaa"}, want: Not},
		"of another MachineSet":         {vm: report.Instance{Name: "md-0-zzzzz-bcdfg", Path: "/dc/c/x"}, want: Not},
		"of the control plane":          {vm: report.Instance{Name: "c-control-plane-zzzzz", Path: "/dc/c/x"}, want: Not},
		"that is young":                 {vm: report.Instance{Name: "md-0-abcde-aaaaa", Path: "/dc/c/x", Created: &young}, want: NotYet},
		"in another folder":             {vm: report.Instance{Name: "md-0-abcde-aaaaa", Path: "/dc/other/x"}, want: NotJudged},
		"in another place":              {vm: report.Instance{Name: "md-0-abcde-aaaaa", Path: "/dc/c/x", Scope: "vsphere there"}, want: NotJudged},
		"and the Machines are not read": {vm: report.Instance{Name: "md-0-abcde-aaaaa", Path: "/dc/c/x"}, change: func(s *scene) { s.seen.Unread = []Unread{{"Machine", "403"}} }, want: NotJudged},
		"that is older than the report": {vm: report.Instance{Name: "md-0-abcde-aaaaa", Path: "/dc/c/x", Created: &earlier}},
		"that a person named":           {vm: report.Instance{Name: "c-control-plane-proxy", Path: "/dc/c/x"}},
		"of nobody":                     {vm: report.Instance{Name: "jumphost-78", Path: "/dc/c/x"}},
		"with the cluster's tag":        {vm: report.Instance{Name: "x", Path: "/", Tags: map[string]string{mark + "cluster/c": "owned", mark + "role": "node"}}, want: Not},
		"with the tag, beside a pool":   {vm: report.Instance{Name: "x", Path: "/", Tags: map[string]string{mark + "cluster/c": "owned"}}, change: func(s *scene) { s.members = []string{} }, want: NotJudged},
		"with another cluster's tag":    {vm: report.Instance{Name: "x", Path: "/", Tags: map[string]string{mark + "cluster/d": "owned"}}},
		"that is the bastion":           {vm: report.Instance{Name: "c-bastion", Path: "/", Tags: map[string]string{mark + "cluster/c": "owned", mark + "role": "bastion"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene("vsphere").running("id-1")
			s.of.Instance.Path = "/dc/c/" + s.of.Name
			v := c.vm
			v.Provider, v.ID, v.State = "vsphere", "id-7", "poweredOn"
			if v.Scope == "" {
				v.Scope = "vsphere here"
			}
			if v.Created == nil {
				v.Created = &later
			}
			s.seen.Instances = append(s.seen.Instances, v)
			if c.change != nil {
				c.change(s)
			}
			d := judged(t, s.report(code.Adopted), &s.seen)
			if len(d.Made) == 0 {
				if c.want != "" {
					t.Errorf("it is not listed, want %s", c.want)
				}
				return
			}
			if m := d.Made[0]; m.Verdict != c.want || m.Cluster != "c" || (c.want == Not) != (d.State == SomeNot) || (c.want == NotYet) != (d.State == Waiting) {
				t.Errorf("%s, %+v, want %s", d.State, m, c.want)
			}
			if got := written(t, "text", d); !strings.Contains(got, "VM "+v.Name+" was created; it has no Machine") {
				t.Error(got)
			}
		})
	}
}
