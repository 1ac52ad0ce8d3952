package openstackcli

import (
	"os/exec"
	"testing"
)

// A Machine is deleted only where no server has its name but one that CAPO made.
func TestNamed(t *testing.T) {
	for name, c := range map[string]struct {
		servers, ports string // what the openstack command prints
		named          bool
	}{
		"nobody has it":               {"echo", "echo", true},
		"CAPO's own":                  {"echo 77058bb1-700b-4234-9c68-ca11aa6a4856", "echo web-0-0", true},
		"CAPO's own, a second port":   {"echo 77058bb1-700b-4234-9c68-ca11aa6a4856", "printf 'x\\nweb-0-data\\n'", true},
		"made by hand":                {"echo 77058bb1-700b-4234-9c68-ca11aa6a4856", "echo", false},
		"by hand, a port of its own":  {"echo 77058bb1-700b-4234-9c68-ca11aa6a4856", "echo web", false},
		"servers cannot be listed":    {"false", "echo web-0-0", false},
		"its ports cannot be listed":  {"echo 77058bb1-700b-4234-9c68-ca11aa6a4856", "false", false},
		"several: no server has both": {"printf 'a\\nb\\n'", "false", false},
	} {
		stub := `openstack() { case "$*" in *"server list"*'--name=^web-0$'*) ` + c.servers + ` ;; *"port list --server="*) ` + c.ports + ` ;; *) return 1 ;; esac; }
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
