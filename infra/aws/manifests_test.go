package aws

import (
	"strings"
	"testing"

	"drift-detector/infra/aws/awstest"
)

// What is not known of an identity is asked for, whatever is the rule, and only one that names a
// Secret waits for it.
func TestIdentitiesAgain(t *testing.T) {
	for name, c := range map[string]struct {
		b     awstest.Backup
		has   string
		lacks []string // parts, in order
		when  string
	}{
		"static":                  {awstest.One(staticIdentity, "s").Static("capa-system", "x", "s"), "secretRef: x\n", nil, "once its Secret is there"},
		"static, without Secret":  {awstest.One(staticIdentity, "s"), "list:\n      - ns\n", []string{"name of the Secret with its " + accessKey}, "once its Secret is there"},
		"a role":                  {awstest.One(roleIdentity, "r"), "kind: AWSClusterRoleIdentity\n", []string{"arn:aws:iam::ACCOUNT", "as a rule " + controllerIdentity, "as a rule " + defaultIdentity}, "before its cluster is unpaused"},
		"the controller's":        {awstest.One(controllerIdentity, "default"), "allowedNamespaces: {}\n", nil, "before its cluster is unpaused"},
		"static, whose Secret is": {awstest.One(staticIdentity, "s").Identity(staticIdentity, "s", map[string]any{"secretRef": "x"}), "kind: Secret\n", []string{accessKey, secretKey}, "before what logs in with it"},
	} {
		s, secrets := awstest.Load(t, want, c.b.Bytes())
		all := pure.Identities(s, secrets)
		if len(all) != 1 {
			t.Errorf("%s: %+v", name, all)
			continue
		}
		text, err := all[0].YAML()
		lacks := all[0].Lacks()
		if err != nil || !strings.Contains(string(text), c.has) || len(lacks) != len(c.lacks) || all[0].When() != c.when || all[0].Problem() != "" {
			t.Errorf("%s: %v, %q, %s, %s\n%s", name, err, lacks, all[0].Problem(), all[0].When(), text)
			continue
		}
		for i, want := range c.lacks {
			if !strings.Contains(strings.Join(lacks, "\n"), want) {
				t.Errorf("%s: lacks %q, want %d with %q", name, lacks, i, want)
			}
		}
	}
	s, secrets := awstest.Load(t, want, awstest.One(roleIdentity, "").Bytes())
	for _, m := range pure.Identities(s, secrets) {
		if m.Problem() == "" {
			t.Errorf("an identity without a name is no problem: %+v", m)
		}
	}
}
