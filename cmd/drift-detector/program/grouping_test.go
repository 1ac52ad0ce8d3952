package program

import (
	"strings"
	"testing"

	"drift-detector/internal/post"
)

// The group is that which --push names, in the form that a Pushgateway takes, and the usual one where it
// names none.
func TestGroups(t *testing.T) {
	for push, want := range map[string]string{
		"http://gate:9091":                                     "http://gate:9091/metrics/job/drift-detector",
		"http://gate:9091/":                                    "http://gate:9091/metrics/job/drift-detector",
		"https://gate/below/":                                  "https://gate/below/metrics/job/drift-detector",
		"https://gate/below/metrics/job/a/instance/b":          "https://gate/below/metrics/job/a/instance/b",
		"https://gate/metrics/job/a/instance/eu%2Fwest":        "https://gate/metrics/job/a/instance@base64/ZXUvd2VzdA",
		"https://gate/metrics/job/team%2Fdrift":                "https://gate/metrics/job@base64/dGVhbS9kcmlmdA",
		"https://gate/metrics/job@base64/dGVhbS9kcmlmdA":       "https://gate/metrics/job@base64/dGVhbS9kcmlmdA",
		"https://gate/metrics/job@base64/dGVhbS9kcmlmdA==/a/b": "https://gate/metrics/job@base64/dGVhbS9kcmlmdA==/a/b",
		"https://gate/metrics/job/a/instance/..":               "https://gate/metrics/job/a/instance@base64/Li4",
		"https://gate/metrics/job/a%20b/instance/%C3%A9?x=1":   "https://gate/metrics/job/a%20b/instance/%C3%A9?x=1",
	} {
		to, err := post.Address(push)
		if err != nil {
			t.Fatal(err)
		}
		if at, err := groupAt(to); err != nil || at.String() != want {
			t.Errorf("%s: %v, %v; want %s", push, at, err, want)
		}
	}
	for _, push := range []string{
		"/metrics/job", "/metrics/job/", "/metrics/job/canary/instance", "/metrics/job/canary/instance/", "/metrics/job/canary//b", "/metrics/job/canary/instance/eu/west",
		"/metrics/job/canary/inst-ance/b", "/metrics/job@base64/=", "/metrics/job@base64/ca.na.ry", "/metrics/job/canary/instance@base64/%2F",
		"/metrics/job/canary/instance@base64/=", "/metrics/job/canary/instance@base64/==", "/metrics/job/canary/instance/%80%80", "/metrics/job@base64/gICA", "/metrics/job/canary/__name__/up",
	} {
		to, err := post.Address("https://gate" + push)
		if err != nil {
			t.Fatal(err)
		}
		if at, err := groupAt(to); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, %v", push, at, err)
		}
	}
}

// A label that the key has twice, or that is one of the metrics' own, is refused by its name.
func TestLabelsOfAGroupClash(t *testing.T) {
	for label, group := range map[string]string{
		"label job,": "job/a/job/b", "label instance,": "job/a/instance/b/instance@base64/Yg", "label backup,": "job/a/backup/x",
		"label path,": "job/a/path@base64/eC8", "label status,": "job/a/status/b", "label cluster,": "job/a/cluster/b", "label drift,": "job/a/drift/b",
		"label account,": "job/a/account/b",
	} {
		to, err := post.Address("https://gate/metrics/" + group)
		if err != nil {
			t.Fatal(err)
		}
		if at, err := groupAt(to); err == nil || !strings.Contains(err.Error(), label) {
			t.Errorf("%s: %v, %v", group, at, err)
		}
	}
}
