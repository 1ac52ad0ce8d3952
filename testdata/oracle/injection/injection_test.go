package injection

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"drift-detector/internal/lab"
)

// payloads are texts that do something where they are not made harmless. What they would
// do has "evil" in its name.
var payloads = []string{
	"\x1b]0;evil\x07\x1b[31mevil\x1b[2J", "[evil](https://evil.example) ![evil](https://evil.example/x.png)", "| evil | b |\n|---|---|\n| 1 | 2 |",
	"```\n# evil\n```", "<script>evil()</script><evil-tag onload=evil()><img src=x onerror=evil()>", "]]></system-out><testcase name=\"evil\"/><![CDATA[\x01\x0b",
	"\"} 1\nevil_metric{a=\"b\"} 1\n# HELP evil_metric x", "\n::error file=evil::evil\n::set-output name=evil::evil", "##vso[task.complete result=Succeeded]evil\n##[error]evil",
	"$(touch evil)`touch evil`;touch evil|touch evil&touch evil\ntouch evil\n'\"; touch evil; \"'", "\u202eexe.evil\u2066\u200b\u200d\ufeff", "a\nb\r\nc\u2028d\u0085e", "evil\x00evil",
	"=cmd|'/C evil'!A0,\"x\"", "--output=evil", "%0A::error::evil", "\xff\xfe\xc0evil", "&lt;script&gt;&#x1b;[31m", "{{evil}} ${{ evil }} %(evil)s", "@evil #1 GH-1",
}

// large is a name of one MiB.
var large = strings.Repeat("A", 1<<20)

// quoted returns text as it is inside of a JSON string.
func quoted(text string) string {
	q, _ := json.Marshal(text)
	return string(q[1 : len(q)-1])
}

// inXML returns what XML 1.0 can hold of a text.
func inXML(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xfffd {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}

// inPath returns what can be one part of a path.
func inPath(text string) string {
	return strings.NewReplacer("/", "-", "\x00", "-").Replace(text[:min(len(text), 150)])
}

// into replaces old by text: everywhere, or, where it is large, in few places.
type into struct{ left int }

func (n *into) replace(s, old, text string) string {
	if len(text) < 1<<16 {
		return strings.ReplaceAll(s, old, text)
	}
	if n.left > 0 && strings.Contains(s, old) {
		n.left--
		return strings.Replace(s, old, text, 1)
	}
	return s
}

// renamed changes a name in all objects and paths.
func renamed(name string) func(*world, string) {
	return func(w *world, text string) {
		n := into{4}
		w.items(func(path, body string) (string, string) {
			return strings.ReplaceAll(path, name, inPath(text)), n.replace(body, name, quoted(text))
		})
	}
}

// valued changes text in the bodies of a resource.
func valued(resource, old, before, after string) func(*world, string) {
	return func(w *world, text string) {
		changed, n := 0, into{4}
		w.items(func(path, body string) (string, string) {
			if strings.HasPrefix(path, "resources/"+resource) {
				changed += strings.Count(body, old)
				body = n.replace(body, old, before+quoted(text)+after)
			}
			return path, body
		})
		if changed == 0 {
			w.t.Fatalf("no %s holds %s", resource, old)
		}
	}
}

// places are where a backup or a server can put text.
var places = map[string]func(w *world, text string){
	"namespace":           renamed("tenant-gamma"),
	"cluster":             renamed("gamma-edge"),
	"machine":             renamed("alpha-prod-md-0-cjzhw-dm6x8"),
	"owner":               renamed("alpha-prod-md-0"),
	"Helm release":        renamed("shop"),
	"providerID":          valued("machines", `"providerID":"vsphere://`, `"providerID":"`, ""),
	"AWS instance id":     valued("awsmachines", `"instanceID":"i-`, `"instanceID":"`, ""),
	"region":              valued("awsclusters", `"region":"`, `"region":"`, ""),
	"label":               valued("machines", `"cluster.x-k8s.io/deployment-name":"`, `"cluster.x-k8s.io/deployment-name":"`, ""),
	"annotation":          valued("machines", `"annotations":{`, `"annotations":{"cluster.x-k8s.io/paused":"`, `",`),
	"version":             valued("machines", `"version":"`, `"version":"`, ""),
	"kind":                valued("machines", `"infrastructureRef":{"apiGroup":"infrastructure.cluster.x-k8s.io","kind":"VSphereMachine`, `"infrastructureRef":{"apiGroup":"infrastructure.cluster.x-k8s.io","kind":"`, ""),
	"uid":                 valued("machines", `"uid":"`, `"uid":"`, ""),
	"server":              valued("vsphere", `"server":"`, `"server":"`, ""),
	"folder":              valued("vsphere", `"folder":"`, `"folder":"`, ""),
	"datacenter":          valued("vsphere", `"datacenter":"`, `"datacenter":"`, ""),
	"endpoint of cluster": valued("clusters", `"controlPlaneEndpoint":{"host":"`, `"controlPlaneEndpoint":{"host":"`, ""),
	"time":                valued("machines", `"creationTimestamp":"`, `"creationTimestamp":"`, ""),
	"path in the tarball": func(w *world, text string) {
		w.items(func(path, body string) (string, string) { return path, body },
			[2]string{"resources/machines.cluster.x-k8s.io/namespaces/tenant-alpha/" + inPath(text) + ".json", "{"}, [2]string{"resources/" + inPath(text) + "/namespaces/x/y.json", "{}"})
	},
	"broken JSON": func(w *world, text string) {
		w.items(func(path, body string) (string, string) { return path, body },
			[2]string{"resources/machines.cluster.x-k8s.io/namespaces/tenant-alpha/x.json", `{"metadata": ` + text})
	},
	"name of the file": func(w *world, text string) {
		file := filepath.Join(w.dir, inPath(text)+".tar.gz")
		w.must(os.Rename(w.backup, file))
		w.backup = file
	},
	"Velero's description": func(w *world, text string) {
		part := func(n int) string { return text[min(n*200, len(text)):min((n+1)*200, len(text))] }
		w.describe("mgmt"+part(0), map[string]any{"phase": part(1), "failureReason": text, "validationErrors": []string{text}, "errors": 3, "formatVersion": part(2)})
	},
	"name in Velero's description": func(w *world, text string) { w.describe(text, nil) },
	"VM":                           func(w *world, text string) { w.must(w.vcenter.Rename("alpha-prod-md-0-cjzhw-dm6x8", text)) },
	"folder of the vCenter": func(w *world, text string) {
		w.vcenter.Front(replacing("tenant-beta", inXML(text)))
	},
	"error of the vCenter": func(w *world, text string) {
		w.vcenter.Front(answering("<RetrievePropertiesEx", 500, [2]string{"Content-Type", "text/xml"}, `<?xml version="1.0"?><Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body><Fault><faultcode>x</faultcode><faultstring>`+inXML(text)+`</faultstring></Fault></Body></Envelope>`))
	},
	"status of the vCenter": func(w *world, text string) { w.vcenter.Front(answering("<", 502, [2]string{}, text)) },
	"redirection": func(w *world, text string) {
		w.vcenter.Front(answering("<", 302, [2]string{"Location", "https://evil.example/?" + url.QueryEscape(text)}, text))
	},
	"certificate": func(w *world, text string) {
		w.vcenter.Greet(showing(strings.Map(func(r rune) rune {
			if r > 126 || r == 0 {
				return -1
			}
			return r
		}, text[:min(len(text), 4000)])))
	},
	"error of AWS": func(w *world, text string) {
		w.ec2.Front(answering("DescribeInstances", 403, [2]string{"Content-Type", "text/xml"}, `<Response><Errors><Error><Code>`+inXML(text)+`</Code><Message>`+inXML(text)+`</Message></Error></Errors><RequestID>`+inXML(text)+`</RequestID></Response>`))
	},
	"AWS tag": func(w *world, text string) {
		w.ec2.Change(func(i *lab.EC2Instance) bool {
			for n := range i.Tags {
				if i.Tags[n].Key == "Name" {
					i.Tags[n].Value = strings.ToValidUTF8(text, "")
				}
			}
			i.PrivateDNSName, i.PrivateIPAddress = strings.ToValidUTF8(text, ""), strings.ToValidUTF8(text, "")
			return true
		})
	},
	"AWS account": func(w *world, text string) { w.ec2.Front(replacing(lab.EC2Account, inXML(text))) },
	"error of an API server": func(w *world, text string) {
		w.nodes.Front(answering("/api/v1/nodes", 403, [2]string{"Content-Type", "application/json"}, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"%s","reason":"%s","code":403}`, quoted(text), quoted(text))))
	},
	"Node": func(w *world, text string) {
		w.nodes.Front(replacing(`"metadata":{`, `"metadata":{"clusterName":"`+quoted(text)+`",`))
		w.nodes.Front(replacing(`alpha-prod-md-0`, quoted(text)))
	},
}

// No text of a backup or a server does anything to whoever reads an output: each output
// is read by a parser of its format, and by rules for terminals and logs of CI. All
// payloads at once, one line each, are put into each place; with INJECTION=all also one
// MiB, and each payload alone.
func TestTextDoesNothing(t *testing.T) {
	var outputs atomic.Int64
	for name, put := range places {
		texts := map[string]string{"all": strings.Join(payloads, "\n")}
		if os.Getenv("INJECTION") == "all" {
			texts["1 MiB"] = large
		}
		if os.Getenv("INJECTION") == "all" {
			for i, p := range payloads {
				texts[fmt.Sprint(i)] = p
			}
		}
		for which, text := range texts {
			t.Run(name+"/"+which, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				put(w, text)
				shown, sign := false, cmp.Or(unshown[name], "evil")
				began := time.Now()
				for _, o := range w.everything() {
					outputs.Add(1)
					if o.code < 0 || o.code > 3 || strings.Contains(o.stderr, "goroutine ") {
						t.Errorf("%s ended with %d: %.2000s", o.what, o.code, o.stderr)
					}
					for _, wrong := range append(terminal(o.stderr), inert(t, o)...) {
						t.Errorf("%s, as %s: %.500s", o.what, o.format, wrong)
					}
					if len(o.stderr) > 64<<10 {
						t.Errorf("%s: %d bytes on stderr", o.what, len(o.stderr))
					}
					shown = shown || strings.Contains(o.stdout+o.stderr, sign)
				}
				if took := time.Since(began); took > 2*time.Minute {
					t.Errorf("it took %s", took)
				}
				if !shown && which == "all" {
					t.Error("nothing shows the text: this tests nothing")
				}
				if _, err := os.Stat(filepath.Join(w.dir, "evil")); err == nil {
					t.Error("something made a file")
				}
			})
		}
	}
	t.Cleanup(func() { fmt.Printf("%d places, %d outputs\n", len(places), outputs.Load()) })
}

// unshown are places whose text is refused and not quoted, with what is said instead.
var unshown = map[string]string{
	"time": "RFC 3339", "server": "its scheme is not https", "annotation": "UntouchedPaused", "broken JSON": "invalid JSON at byte",
	"error of an API server": "does not let this account list Nodes", "status of the vCenter": "502 Bad Gateway",
	"name in Velero's description": "a name of more than 253 bytes",
	"redirection":                  "302 Found", "certificate": "is not trusted",
}
