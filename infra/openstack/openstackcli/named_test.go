package openstackcli

import (
	"os/exec"
	"testing"
)

// A Machine is deleted only where no server has its name but one that CAPO made.
func TestNamed(t *testing.T) {
	const id = "echo 77058bb1-700b-4234-9c68-ca11aa6a4856"
	for name, c := range map[string]struct {
		servers, ports, port, device string // what the openstack command prints
		named                        bool
	}{
		"nobody has it":               {"echo", "false", "echo", "false", true},
		"its port is free":            {"echo", "false", id, "echo", true},
		"its port is another's":       {"echo", "echo web-0-0", id, id, false},
		"several ports have its name": {"echo", "false", "printf 'a\\nb\\n'", "false", false},
		"its port cannot be seen":     {"echo", "false", "false", "echo", false},
		"CAPO's own":                  {id, "echo web-0-0", "false", "false", true},
		"CAPO's own, a second port":   {id, "printf 'x\\nweb-0-data\\n'", "false", "false", true},
		"made by hand":                {id, "echo", "echo", "echo", false},
		"by hand, a port of its own":  {id, "echo web", "echo", "echo", false},
		"servers cannot be listed":    {"false", "echo web-0-0", "echo", "echo", false},
		"its ports cannot be listed":  {id, "false", "echo", "echo", false},
		"several: no server has both": {"printf 'a\\nb\\n'", "false", "echo", "echo", false},
	} {
		stub := `openstack() { case "$*" in *"server list"*'--name=^web-0$'*) ` + c.servers + ` ;; *"port list --server="*) ` + c.ports +
			` ;; *"port list --name=web-0-0"*) ` + c.port + ` ;; *"port show 77058bb1-700b-4234-9c68-ca11aa6a4856 "*) ` + c.device + ` ;; *) return 1 ;; esac; }
NAME=web-0; SCOPE_1=x
`
		err := exec.Command("sh", "-c", stub+Tool{}.Named(instance.Scope).Text()).Run()
		if (err == nil) != c.named {
			t.Errorf("%s: %v: %s", name, err, Tool{}.Named(instance.Scope).Text())
		}
	}
	if exec.Command("sh", "-c", "openstack() { echo; }; NAME=; SCOPE_1=x\n"+Tool{}.Named(instance.Scope).Text()).Run() == nil {
		t.Error("it takes no name for one that nobody has")
	}
}
