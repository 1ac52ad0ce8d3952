package govc

import (
	"testing"

	"drift-detector/infra/shell"
	"drift-detector/infra/shell/shelltest"
)

func TestTool(t *testing.T) {
	vm := shell.Instance{
		Scope: shell.Scope{Endpoint: "vc.example", Identity: "dbed6e0c-bd88-4ef6-b594-21283e1c677f", Variable: "SCOPE_1"},
		ID:    "b8027b17-866e-5fe2-a015-a623c30c22ce", Ref: "vm-42", Name: "alpha",
	}
	shelltest.Tool(t, Tool{}, vm)
	for _, ref := range append(shelltest.Hostile, shelltest.Unprintable...) {
		bad := vm
		bad.Ref = ref
		if (Tool{}).Addresses(bad) {
			t.Errorf("it addresses %q", ref)
		}
	}
}
