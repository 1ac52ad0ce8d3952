package vsphere

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/naming"
	"drift-detector/infra"
)

func TestVMNames(t *testing.T) {
	for _, c := range []struct{ machine, os, naming, want string }{
		{"prod-md-0-cjzhw-zk8zm", "Linux", "", "prod-md-0-cjzhw-zk8zm"},
		// Names that real controllers made (lab, restored-data).
		{"delta-mixed-md-win-zwckz-df678", "Windows", "", "delta-mix-df678"},
		{"delta-mixed-md-named-w8lgq-h8m4v", "Linux", "vm-{{ .machine.name | trunc 12 }}-{{ .machine.name | trunc -5 }}", "vm-delta-mixed--h8m4v"},
		{"short-windows-x", "Windows", "", "short-windows-x"},
		{"eightchr-windows-zwckz", "windows", "", "eightchr-zwckz"}, // the cut's own dash goes
		{"m-1", "", "{{ .machine.name }}.example", "m-1.example"},
		{"m-1", "", "{{trunc 1 .machine.name}}x", "mx"},
		{"web-prod", "", `{{ .machine.name | trimSuffix "-prod" }}`, "web"},
		{"web-dev", "", `{{ .machine.name | trimSuffix "-prod" }}`, "web-dev"},
		{"web", "", "{{ .machine.name }}-" + strings.Repeat("x", 80), "web-" + strings.Repeat("x", 59)},
		// What is not understood leaves the machine's own name.
		{"m-1", "", "{{ .machine.name | upper }}", "m-1"},
		{"m-1", "", "{{ .machine.labels.x }}", "m-1"},
		{"m-1", "", "{{ .machine.name", "m-1"},
		{"m-1", "", "{{ range .machine.name }}x{{ end }}", "m-1"},
		{"m-1", "", "{{- .machine.name -}}", "m-1"},
		{"m-1", "", "{{ .machine.name | trunc 1e9 }}", "m-1"},
		{"m-1", "", strings.Repeat("{{ .machine.name }}", 100), "m-1"},
		{"m-1", "", strings.Repeat("x", maxTemplate+1), "m-1"},
	} {
		if got, _ := concreteName(c.machine, c.os, c.naming); got != c.want {
			t.Errorf("%s, %s, %q: %q, want %q", c.machine, c.os, c.naming, got, c.want)
		}
	}
}

func TestPatternsMatchWhatTheyStandFor(t *testing.T) {
	md := join(literal("prod.md-"), random(naming.SuffixLen), literal("-"), random(naming.SuffixLen))
	named, ok := expand("vm-{{ .machine.name | trunc 12 }}-{{ .machine.name | trunc -5 }}", map[string]text{".machine.name": md})
	if !ok {
		t.Fatal("the template is not understood")
	}
	re := regexp.MustCompile(named.pattern())
	for name, want := range map[string]bool{
		"vm-prod.md-cjzh-zk8zm":  true,
		"vm-prod.md-cjza-zk8zm":  false, // a is no safe character
		"vm-prodxmd-cjzh-zk8zm":  false, // the dot is a dot
		"xvm-prod.md-cjzh-zk8zm": false,
		"vm-prod.md-cjzh-zk8zmx": false,
	} {
		if re.MatchString(name) != want {
			t.Errorf("%s: %t, want %t", name, !want, want)
		}
	}
	if _, ok := trimSuffix(md, literal("bbb")); ok {
		t.Error("whether random characters end in bbb can't be known")
	}
	if kept, ok := trimSuffix(md, literal("aaa")); !ok || len(kept) != len(md) {
		t.Error("random characters never end in aaa")
	}
}

// TestStemsMeet makes names as Cluster API does and demands that both sides
// make the same key of them.
func TestStemsMeet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func(alphabet string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
	const folder = "vc:443/DC0/vm/prod"
	for range 3000 {
		name := "c" + word("abcdefghij-0123456789", r.IntN(60)) + "z"
		o := owner{id: &infra.OwnerID{}}
		o.id.Kind, o.id.Name = "MachineSet", name
		generated := naming.Stem(name) + word(naming.Alphabet, naming.SuffixLen)
		if want := o.stem(folder, "").Key; len(generated) > naming.MaxName || !slices.Contains(stems(folder, generated), want) {
			t.Fatalf("%s of MachineSet %s has %v, want %s", generated, name, stems(folder, generated), want)
		}
		o.id.Kind, o.id.Name = "MachineDeployment", name[:min(len(name), 40)]
		set := o.id.Name + "-" + word(naming.Alphabet, naming.SuffixLen+r.IntN(naming.MaxSetSuffix-naming.SuffixLen+1))
		generated = set + "-" + word(naming.Alphabet, naming.SuffixLen)
		if want := o.stem(folder, "").Key; !slices.Contains(stems(folder, generated), want) {
			t.Fatalf("%s of MachineDeployment %s has %v, want %s", generated, o.id.Name, stems(folder, generated), want)
		}
	}
	for _, other := range []string{"", "zk8zm", "alpha-prod-db", "alpha-prod-jzxnt-clone", "prod-aaaaa", "prod-zk8z", "prodzk8zm", "alpha-prod-jzxnt-dup-uuid"} {
		if got := stems(folder, other); got != nil {
			t.Errorf("%q has %v", other, got)
		}
	}
}
