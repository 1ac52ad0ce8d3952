package costs_test

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
)

// growths are the inputs that grow, each alone. What has pick in it is there so many
// times, and vary in it is another text in each copy.
var growths = []growth{
	{name: "clusters", pick: "tenant-alpha", vary: []string{"tenant-alpha", "alpha-prod", "alpha-dev"}},
	{name: "clusters and machines of one name", pick: "tenant-alpha", vary: []string{"tenant-alpha"}},
	{
		name: "machines of one name without ids, and VMs of that name", pick: "tenant-alpha", few: 20, only: oneMachine, lacks: recordedIDs,
		vary: []string{"namespaces/tenant-alpha", `amespace":"tenant-alpha`, "Secret/tenant-alpha", "nodes/0/tenant-alpha"},
	},
	{name: "machines of a cluster", pick: grownMachine, vary: []string{grownMachine}},
	{name: "machines of a control plane", pick: grownPlane, few: 20, vary: []string{grownPlane}},
	{name: "machines of a control plane that is gone", pick: grownPlane, few: 20, vary: []string{grownPlane}, only: regexp.MustCompile(`\.json$`)},
	{
		name: "machines of a control plane that is gone, and MachineHealthChecks of the whole cluster", pick: grownPlane, few: 20, vary: []string{grownPlane},
		only: regexp.MustCompile(`\.json$`), extra: wholeChecks, blind: true,
	},
	{name: "machines and MachineHealthChecks of the whole cluster", pick: grownMachine, few: 20, vary: []string{grownMachine}, extra: wholeChecks},
	{name: "folders", pick: grownMachine, vary: []string{grownMachine, "/DC0/vm/capi/tenant-alpha"}},
	{name: "endpoints", pick: "tenant-alpha", vary: []string{"tenant-alpha", "alpha-prod", "alpha-dev", "127.0.0.1:36459"}},
	{name: "endpoints with flags for each", pick: "tenant-alpha", few: 15, vary: []string{"tenant-alpha", "alpha-prod", "alpha-dev", "127.0.0.1"}, given: true},
	{name: "accounts and flags for endpoints", few: 30, extra: accounts, given: true},
	{name: "unknown VMs", pick: "DC0_H0_VM0", vary: []string{"DC0_H0_VM0"}},
	{name: "unknown VMs of one name", pick: "DC0_H0_VM0"},
	{name: "unknown VMs in the folder of a cluster", pick: "jumphost-01", vary: []string{"jumphost-01"}},
	{name: "Nodes", pick: `"kind":"Node"`, vary: []string{grownMachine}},
	{name: "ignore rules", rules: "- match: {name: \"alpha-prod-md-%[1]d-*\", status: Ghost}\n  reason: known\n- match: {check: NoHealthCheck, namespace: \"lab-%[1]d-*\"}\n  reason: known\n"},
	{
		name: "ignore rules for a VM each", pick: "jumphost-01", few: 30, vary: []string{"jumphost-01"},
		rules: "- match: {name: \"jumphost-01%03[1]d\"}\n  reason: known\n",
	},
	{
		name: "ignore rules for what a VM's name begins with", pick: "jumphost-01", few: 30, vary: []string{"jumphost-01"},
		rules: "- match: {name: \"jumphost-01%03[1]d*\"}\n  reason: known\n",
	},
	{
		name: "clusters without anything whose names begin alike", pick: "tenant-alpha", few: 30, only: regexp.MustCompile(`/(vsphere)?clusters\.`),
		vary: []string{"tenant-alpha", "alpha-prod", "alpha-dev"}, pad: strings.Repeat("x", 47),
		edit: strings.NewReplacer(`"identityRef":{"kind":"Secret"`, `"identityRef":{"kind":"VSphereClusterIdentity"`),
	},
	{name: "servers of one cluster's machines", pick: grownMachine, few: 24, vary: []string{grownMachine, "https://127.0.0.1"}},
	{
		name: "groups that lost their machines", pick: "alpha-prod-md-0", few: 24, vary: []string{"alpha-prod-md-0"},
		only: regexp.MustCompile(`\.json$|/alpha-prod-[a-z0-9]{5}$`), // of the VMs, the control plane
	},
	{name: "groups with a MachineHealthCheck each", pick: "alpha-prod-md-0", few: 30, vary: []string{"alpha-prod-md-0"}, extra: healthChecks},
	{name: "accounts of AWS and OpenStack of one Secret", few: 24, extra: oneAccount},
	{name: "clusters of a topology", few: 24, extra: managedClusters},
	{name: "IPAddressClaims", pick: grownMachine, few: 24, vary: []string{grownMachine}, extra: addressClaims},
	{name: "groups of a topology", few: 30, extra: managedCluster},
	{name: "accounts of AWS and OpenStack", few: 24, extra: accounts},
	{name: "groups in a folder each", pick: "alpha-prod-md-0", few: 20, vary: []string{"alpha-prod-md-0", "/DC0/vm/capi/tenant-alpha"}},
	{
		name: "groups with a naming template and VMs without a machine", pick: "alpha-prod-md-0", few: 20, vary: []string{"alpha-prod-md-0"}, lacks: recordedIDs,
		edit: strings.NewReplacer(`"os":"Linux"`, `"os":"Linux","naming":{"template":"vm-{{ .machine.name }}"}`),
	},
	{name: "clusters on AWS", tenant: onAWS, pick: onAWS, few: 8, vary: []string{onAWS, "aws-prod"}},
	{name: "machines of a cluster on AWS", tenant: onAWS, pick: "aws-prod-md-1a-f7mmd-8gn59", few: 24, vary: []string{"aws-prod-md-1a-f7mmd-8gn59"}},
	{name: "pools on AWS", tenant: onAWS, pick: "aws-prod-mp-0", few: 24, vary: []string{"aws-prod-mp-0"}},
	{name: "members of a pool on AWS", tenant: onAWS, pick: "aws-prod-mp-0", few: 24},
	{name: "unknown instances on AWS", tenant: onAWS, pick: "corp-bastion", few: 24, vary: []string{"corp-bastion"}},
	{name: "clusters on OpenStack", tenant: onOpenStack, pick: onOpenStack, vary: []string{onOpenStack, "web-prod", "web-old"}},
	{
		name: "clusters on OpenStack without Cluster", tenant: onOpenStack, pick: onOpenStack, few: 8, vary: []string{onOpenStack, "web-prod", "web-old"},
		only: regexp.MustCompile(`/(openstack\w+|machine\w*|kubeadm\w+|secrets)[./]|^nova/`),
	},
	{name: "machines of a cluster on OpenStack", tenant: onOpenStack, pick: "web-prod-md-0-46mng-9s5vw", few: 24, vary: []string{"web-prod-md-0-46mng-9s5vw"}},
	{
		name: "clusters on Azure", tenant: onAzure, pick: onAzure, few: 8, vary: []string{onAzure, "shop", "edge-7"},
		only: regexp.MustCompile(`\.(x-k8s\.io|azure\.com)/|/[a-z0-9-]+-(ca|kubeconfig|sp|secret)\.json$`), // further Secrets have so many shapes that none is remembered
	},
	{name: "machines of a cluster on Azure", tenant: onAzure, pick: "shop-md-0-w66kl-djmng", few: 24, vary: []string{"shop-md-0-w66kl-djmng"}},
	{name: "unknown servers on OpenStack", tenant: onOpenStack, pick: "ops-jump", few: 24, vary: []string{"ops-jump"}},
	{name: "datacenters", pick: grownMachine, vary: []string{grownMachine, "/DC0"}},
	{name: "machines of one name on AWS", tenant: onAWS, pick: "aws-prod-md-1a-f7mmd-8gn59", few: 24},
	{name: "machines of one name on OpenStack", tenant: onOpenStack, pick: "web-prod-md-0-46mng-9s5vw", few: 24},
	{name: "clusters of one name on OpenStack", tenant: onOpenStack, pick: onOpenStack, few: 8, vary: []string{onOpenStack}},
	{name: "clusters of one name on AWS in a VPC each", tenant: onAWS, pick: onAWS, few: 8, vary: []string{onAWS, "vpc-0a1b2c3d", "aws-prod-mp-0"}},
	{name: "clusters of one name with an endpoint each", pick: "tenant-alpha", few: 8, vary: []string{"tenant-alpha", `"port":2000`, "127.0.0.1:2000"}},
	{name: "unknown servers of one name on OpenStack", tenant: onOpenStack, pick: "ops-jump", few: 24},
	{name: "unknown instances of one name on AWS", tenant: onAWS, pick: "corp-bastion", few: 24},
	{
		name: "ignore rules for what a VM's name ends with", pick: "jumphost-01", few: 30, vary: []string{"jumphost-01"},
		rules: "- match: {name: \"*-01%03[1]d\"}\n  reason: known\n",
	},
	{
		name: "ignore rules for a cluster each", pick: "tenant-alpha", vary: []string{"tenant-alpha", "alpha-prod", "alpha-dev"},
		rules: "- match: {cluster: \"alpha-prod%03[1]d\"}\n  reason: known\n- match: {namespace: \"tenant-alpha%03[1]d\"}\n  reason: known\n",
	},
	{
		name: "ignore rules for a tag and a folder and an instance each", pick: "jumphost-01", few: 30, vary: []string{"jumphost-01"},
		rules: "- match: {tag: {\"t%[1]d\": x}}\n  reason: known\n- match: {folder: \"/DC0/vm/f%[1]d/**\"}\n  reason: known\n- match: {instance: \"%[1]d\"}\n  reason: known\n",
	},
}

// oneMachine is the path of a machine, of its VM and of what they belong to.
var oneMachine = regexp.MustCompile(`/tenant-alpha/alpha-prod(-md-0(-cjzhw(-7z9bm)?)?)?(\.json)?$`)

// recordedIDs are the fields of a backup that name a VM by an id.
var recordedIDs = regexp.MustCompile(`"biosUUID":"[^"]*",|"providerID":"vsphere:[^"]*",|,"vmRef":"[^"]*"`)

const (
	grownMachine = "alpha-prod-md-0-cjzhw-7z9bm"
	grownPlane   = "alpha-prod-jzxnt"
)

// TestNothingGrowsFasterThanItsInput counts how often each statement of the program runs,
// with each input at one size and at eight times that. One that runs more than 32 times
// as often is quadratic in something; sorting is up to 14 times.
func TestNothingGrowsFasterThanItsInput(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the program with counters, which takes a minute")
	}
	t.Parallel()
	const times, most, noise = 8, 32, 8000
	dir := t.TempDir()
	program := filepath.Join(dir, "drift-detector")
	build := exec.Command("go", "build", "-cover", "-covermode=count", "-coverpkg=drift-detector/...", "-buildvcs=false", "-o", program, "drift-detector/cmd/drift-detector")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	converter, err := exec.Command("go", "tool", "-n", "covdata").Output() // its path
	if err != nil {
		t.Fatal(err)
	}
	c := counter{program: program, converter: strings.TrimSpace(string(converter))}
	w := runs.Fleet(t)
	cloud, _ := runs.OpenStackFleet(t, openstacklab.Options{})
	azure := runs.AzureFleet(t, azurelab.Options{})
	azure.WithAzureNodes()
	seeds := map[string]seed{
		onVSphere: newSeed(t, w, w.Reach(), onVSphere), onAWS: newSeed(t, w, w.Reach(), onAWS),
		onOpenStack: newSeed(t, cloud, cloud.WithOpenStackNodes(), onOpenStack), onAzure: newSeed(t, azure, azure.Reach(), onAzure),
	}
	for _, g := range growths {
		t.Run(g.name, func(t *testing.T) {
			few := cmp.Or(g.few, 4)
			before, after := c.count(t, g, seeds[g.of()], few), c.count(t, g, seeds[g.of()], few*times)
			var grown []string
			for block, n := range after {
				if n <= noise || n <= most*before[block] {
					continue
				}
				// One of several ways through a function, taken only with much input, is
				// measured by how often the function was called.
				if n > most*before.entry(t, block) {
					grown = append(grown, fmt.Sprintf("%s: %d times, and %d times of 8 times as many", block, before[block], n))
				}
			}
			slices.Sort(grown)
			for _, line := range grown {
				t.Error(line)
			}
		})
	}
}

// counter runs a program that counts, and the one that makes text of what it counted: by
// "go tool", that takes three times as long.
type counter struct{ program, converter string }

// count runs the commands and returns how often each block of statements ran.
func (c counter) count(t *testing.T, g growth, s seed, copies int) profile {
	t.Helper()
	dir := t.TempDir()
	counters := filepath.Join(dir, "counters")
	if err := os.Mkdir(counters, 0o700); err != nil {
		t.Fatal(err)
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	g.write(t, s, copies, file("data.tar.gz"), file("inventory.json"), file("rules.yaml"))
	for _, args := range [][]string{
		{
			"detect", "--backup", file("data.tar.gz"), "--inventory", file("inventory.json"), "--ignore-file", file("rules.yaml"), "--quiet",
			"-o", file("r.json"), "-o", file("r.html"), "-o", file("r.md"), "-o", file("r.txt"), "-o", file("r.xml"), "-o", file("r.prom"),
		},
		append([]string{"detect", "--backup", file("data.tar.gz"), "--dry-run"}, g.access(t, copies, file("credentials.yaml"))...),
		{"check", "--backup", file("data.tar.gz"), "-o", file("c.json")},
		{"plan", file("r.json"), "-o", file("plan.md")},
		{"diff", file("r.json"), file("r.json"), "-o", file("d.json")},
		{"diff", file("r.json"), file("other.json"), "-o", file("d.json")},
	} {
		if args[0] == "diff" {
			rename(t, file("r.json"), file("other.json"))
		}
		cmd := exec.Command(c.program, args...)
		cmd.Env = append(os.Environ(), "GOCOVERDIR="+counters)
		if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != int(cli.ExitIncomplete) {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
	}
	text := file("profile")
	if out, err := exec.Command(c.converter, "textfmt", "-i", counters, "-o", text).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return readProfile(t, text)
}

// rename makes the report of other clusters out of one.
func rename(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, bytes.ReplaceAll(text, []byte("tenant-"), []byte("tenants-")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// profile is how often each block of statements ran, by its "file:line.column,line.column".
type profile map[string]int

// readProfile reads lines "file:from,to statements count".
func readProfile(t *testing.T, file string) profile {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := profile{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 {
			continue
		}
		n, err := strconv.Atoi(fields[2])
		if err != nil {
			t.Fatal(err)
		}
		out[fields[0]] += n
	}
	if len(out) < 1000 {
		t.Fatalf("only %d blocks were counted", len(out))
	}
	return out
}

// entry returns how often the function that a block is in was called.
func (p profile) entry(t *testing.T, block string) int {
	t.Helper()
	file, at, _ := strings.Cut(block, ":")
	var line, column int
	if _, err := fmt.Sscanf(at, "%d.%d,", &line, &column); err != nil {
		t.Fatal(block, err)
	}
	positions := token.NewFileSet()
	tree, err := parser.ParseFile(positions, filepath.Join("../../..", strings.TrimPrefix(file, "drift-detector/")), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	first := block
	ast.Inspect(tree, func(n ast.Node) bool {
		if f, is := n.(*ast.FuncDecl); is && f.Body != nil {
			from, to := positions.Position(f.Body.Lbrace), positions.Position(f.Body.Rbrace)
			if from.Line <= line && line <= to.Line {
				first = fmt.Sprintf("%s:%d.%d,", file, from.Line, from.Column)
			}
		}
		return true
	})
	for b, n := range p {
		if strings.HasPrefix(b, first) {
			return n
		}
	}
	return 0
}
