package aws

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// statement is one of an IAM policy; Action is a text or a list of them.
type statement struct {
	Sid, Effect string
	Action      any
	Resource    string
}

func actions(t *testing.T) []string {
	t.Helper()
	var document struct {
		Version   string
		Statement []statement
	}
	if err := json.Unmarshal([]byte(policy), &document); err != nil {
		t.Fatal(err)
	}
	if document.Version != "2012-10-17" {
		t.Errorf("version %q is not the policy language's", document.Version)
	}
	var all []string
	for _, s := range document.Statement {
		if s.Effect != "Allow" || s.Resource == "" || !regexp.MustCompile(`^\w+$`).MatchString(s.Sid) {
			t.Errorf("statement %+v is not one that IAM takes", s)
		}
		switch a := s.Action.(type) {
		case string:
			all = append(all, a)
		case []any:
			for _, one := range a {
				all = append(all, one.(string))
			}
		}
	}
	return all
}

// TestPolicyIsWhatTheProviderCalls compares the policy with the actions that
// the provider names in its own source, for its errors.
func TestPolicyIsWhatTheProviderCalls(t *testing.T) {
	files, err := filepath.Glob("list/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source of the provider: %v", err)
	}
	literal := regexp.MustCompile(`"([a-z0-9]+:[A-Z][A-Za-z]+)"`)
	var called []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range literal.FindAllStringSubmatch(string(text), -1) {
			called = append(called, m[1])
		}
	}
	slices.Sort(called)
	called = slices.Compact(called)
	allowed := actions(t)
	slices.Sort(allowed)
	if !slices.Equal(called, allowed) {
		t.Errorf("the provider calls %v, and the policy allows %v", called, allowed)
	}
	for _, a := range allowed {
		if _, name, _ := strings.Cut(a, ":"); !strings.HasPrefix(name, "Describe") && !strings.HasPrefix(name, "Get") && !strings.HasPrefix(name, "List") && a != "sts:AssumeRole" {
			t.Errorf("%s does more than read", a)
		}
	}
}
