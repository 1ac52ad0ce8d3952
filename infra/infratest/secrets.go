package infratest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra"
)

// hidden prints all that a provider hands out in every way Go can print it.
func hidden(t *testing.T, r *run, all []infra.Listing, w World) {
	if len(w.Markers) == 0 {
		t.Fatal("the world names no secrets to look for")
	}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, target := range r.targets {
			fmt.Fprintf(&out, verb, target)
			fmt.Fprintf(&out, verb, &target)
			fmt.Fprintf(&out, verb, target.Credential)
			fmt.Fprintf(&out, verb, target.Detail)
		}
		fmt.Fprintf(&out, verb, all)
		fmt.Fprintf(&out, verb, r.provider.Expected(r.snapshot))
	}
	for _, v := range []any{r.targets, all, r.provider.Expected(r.snapshot).Machines} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Errorf("it can't be marshalled: %v", err)
		}
		out.Write(data)
	}
	for _, target := range r.targets {
		data, err := json.Marshal(target.Credential)
		if err != nil {
			t.Errorf("a credential can't be marshalled: %v", err)
		}
		out.Write(data)
	}
	for _, m := range w.Markers {
		for _, form := range []string{m, fmt.Sprintf("%x", m)} {
			if at := strings.Index(out.String(), form); at >= 0 {
				t.Errorf("a secret is printed behind %q", tail(out.String()[:at], 80))
			}
		}
	}
}

// redacts holds that each Target hides what it logs in with from what its server says.
func redacts(t *testing.T, r *run, w World) {
	for _, target := range r.targets {
		if target.Credential != nil && target.Redaction == nil {
			t.Errorf("%v has a credential, and hides none of it", target.IDs)
		}
	}
	for i, m := range w.Markers {
		if !slices.ContainsFunc(r.targets, func(target infra.Target) bool { return !strings.Contains(target.Redaction.Text("it is "+m), m) }) {
			t.Errorf("no target hides secret %d", i)
		}
	}
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

func idsWithoutSecrets(t *testing.T, h Harness, w World, r *run) {
	ids := func(targets []infra.Target) []string {
		var all []string
		for _, target := range targets {
			all = append(all, target.IDs...)
		}
		slices.Sort(all)
		return all
	}
	s, _ := w.Load()
	if bare := h.New().Targets(s, nil, infra.Access{}); !slices.Equal(ids(bare), ids(r.targets)) {
		t.Errorf("with Secrets the ids are %v, without %v", ids(r.targets), ids(bare))
	}
}
