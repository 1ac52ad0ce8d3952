//go:build !race

package faults_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
	"drift-detector/report"
)

const (
	mostBeside = 256 << 10 // kB of memory that a hostile answer may cost
	answerSize = 64 << 20  // bytes of one
)

// hostileAnswer is an answer to all calls of a kind: a beginning, what is repeated, and how
// it ends.
type hostileAnswer struct {
	name, call        string
	head, again, tail string
	times             int // 0 is as often as the answer has room for
	says              string
}

// serve sends it, one byte in two seconds where nothing is repeated.
func (a *hostileAnswer) serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(a.head, "{") {
		w.Header().Set("Content-Type", "application/json")
	}
	if a.call == "keystone POST /v3/auth/tokens" {
		w.Header().Set("X-Subject-Token", "t")
		w.WriteHeader(http.StatusCreated)
	}
	_, _ = io.WriteString(w, a.head)
	for a.again == "" {
		_, _ = io.WriteString(w, " ")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(2 * time.Second):
		case <-r.Context().Done():
			return
		}
	}
	left := a.times
	if left == 0 {
		left = (answerSize - len(a.head) - len(a.tail)) / len(a.again)
	}
	block := strings.Repeat(a.again, min(left, 1<<20/len(a.again)+1))
	for each := len(block) / len(a.again); left > 0; left -= each {
		if _, err := io.WriteString(w, block[:min(left, each)*len(a.again)]); err != nil {
			return
		}
	}
	_, _ = io.WriteString(w, a.tail)
}

const (
	soapHead  = `<?xml version="1.0"?><E:Envelope xmlns:E="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><E:Body>`
	pageHead  = soapHead + `<RetrievePropertiesExResponse xmlns="urn:vim25"><returnval>`
	awsHead   = `<DescribeInstancesResponse><requestId>r</requestId><reservationSet><item><reservationId>r</reservationId><instancesSet>`
	awsTail   = `</instancesSet></item></reservationSet></DescribeInstancesResponse>`
	nodesHead = `{"kind":"NodeList","metadata":{},"items":[{"status":{},"metadata":{"name":"n","labels":{`
	levels    = "more than 100 levels"
	elements  = "elements or values"
)

var kilobyte = strings.Repeat("x", 1000)

var hostileAnswers = map[string][]hostileAnswer{
	"vSphere": {
		{"deep", "RetrieveServiceContent", soapHead, "<a>", "", 0, levels},
		{"wide", "RetrieveServiceContent", soapHead + `<RetrieveServiceContentResponse xmlns="urn:vim25"><returnval>`, "<a/>", "", 0, elements},
		{"a text", "RetrieveServiceContent", soapHead + "<a>", kilobyte, "", 0, "a text of more than 4 MiB"},
		{"attributes", "RetrieveServiceContent", soapHead + "<a", ` a=""`, "", 0, "more than 1000 attributes"},
		{"fault", "Login", soapHead + `<E:Fault><faultstring>x</faultstring><detail>`, "<a>", "", 0, levels},
		{"objects", "RetrievePropertiesEx", pageHead, "<objects/>", "", 0, elements},
		{"texts", "RetrievePropertiesEx", pageHead, "<token>" + kilobyte + "</token>", "", 1 << 20, "longer than 64 MiB"},
		{"large types", "RetrievePropertiesEx", pageHead + `<objects><propSet><name>view</name><val xsi:type="ArrayOfVirtualMachineConfigInfo">`, "<VirtualMachineConfigInfo/>", "", 0, elements},
		{"typed", "RetrievePropertiesEx", pageHead + `<objects>`, `<propSet><val xsi:type="VirtualMachineConfigInfo"/></propSet>`, "", 0, ""},
		{"slow", "RetrieveServiceContent", soapHead, "", "", 0, "--timeout"},
	},
	"AWS": {
		{"deep", "GetCallerIdentity", "<GetCallerIdentityResponse>", "<a>", "", 0, levels},
		{"wide", "GetCallerIdentity", "<GetCallerIdentityResponse>", "<a/>", "", 0, elements},
		{"a text", "GetCallerIdentity", "<GetCallerIdentityResponse><Arn>", kilobyte, "", 0, "a text of more than 4 MiB"},
		{"endless", "DescribeInstances", awsHead, "<a>" + kilobyte[:700] + kilobyte + kilobyte + "</a>", "", 1 << 15, "longer than 32 MiB"},
		{"instances", "DescribeInstances", awsHead, "<item/>", awsTail, 49_900, "without its id"},
		{"more instances", "DescribeInstances", awsHead, "<item/>", awsTail, 0, "elements or values in its first 5 levels"},
		{"interfaces", "DescribeInstances", awsHead + "<item><networkInterfaceSet>", "<item/>", "</networkInterfaceSet></item>" + awsTail, 190_000, "without its id"},
		{"more interfaces", "DescribeInstances", awsHead + "<item><networkInterfaceSet>", "<item/>", "</networkInterfaceSet></item>" + awsTail, 1_400_000, "in its first 7 levels"},
		{"addresses", "DescribeInstances", awsHead + "<item><networkInterfaceSet><item><privateIpAddressesSet>", "<item/>", "</privateIpAddressesSet></item></networkInterfaceSet></item>" + awsTail, 990_000, "without its id"},
		{"texts", "DescribeInstances", awsHead + "<item><tagSet>", "<item><key>" + kilobyte + "</key></item>", "</tagSet></item>" + awsTail, 30_000, "without its id"},
		{"slow", "GetCallerIdentity", "<GetCallerIdentityResponse>", "", "", 0, "--timeout"},
	},
	"OpenStack": {
		{"deep", "keystone POST /v3/auth/tokens", `{"token":`, "[", "", 0, levels},
		{"wide", "keystone POST /v3/auth/tokens", `{"token":{"catalog":[`, `{"a":0},`, `{}]}}`, 0, elements},
		{"catalog", "keystone POST /v3/auth/tokens", `{"token":{"catalog":[`, `{"a":0},`, `{}]}}`, 33_000, ""},
		{"a text", "keystone POST /v3/auth/tokens", `{"token":"`, kilobyte, `"}`, 0, "a text of more than 4 MiB"},
		{"texts", "keystone POST /v3/auth/tokens", `{"token":[`, `"` + kilobyte + `",`, `0]}`, 0, "a part of more than 8 MiB"},
		{"deep", "nova GET /v2.1/servers/detail", `{"servers":[`, `{"a":`, "", 0, levels},
		{"servers", "nova GET /v2.1/servers/detail", `{"servers":[`, "{},", "{}]}", 0, elements},
		{"metadata", "nova GET /v2.1/servers/detail", `{"servers":[{"metadata":{`, `"":"",`, `"a":""}}]}`, 950_000, "in one part"},
		{"addresses", "nova GET /v2.1/servers/detail", `{"servers":[{"addresses":{"a":[`, `{},`, `{}]}}]}`, 1_900_000, "in one part"},
		{"a large server", "nova GET /v2.1/servers/detail", `{"servers":[{"metadata":{`, `"a":"` + kilobyte + `",`, `"a":""}}]}`, 0, "a part of more than 4 MiB"},
		{"another", "nova GET /v2.1/servers/detail", `{"other":[`, `"` + kilobyte + `",`, `1]}`, 0, ""},
		{"ports", "neutron GET /v2.0/ports", `{"ports":[{"fixed_ips":[`, `{},`, `{}]}]}`, 1_900_000, "in one part"},
		{"slow", "nova GET /v2.1/servers/detail", `{"servers":[`, "", "", 0, "--timeout"},
	},
	"Nodes": {
		{"deep", "Nodes", nodesHead + `"a":`, "[", "", 0, levels},
		{"labels", "Nodes", nodesHead, `"":"",`, `"a":""}}}]}`, 0, "in one part"},
		{"conditions", "Nodes", `{"kind":"NodeList","metadata":{},"items":[{"metadata":{"name":"n"},"status":{"conditions":[`, `{},`, `{}]}}]}`, 990_000, "in one part"},
		{"a text", "Nodes", nodesHead + `"a":"`, kilobyte, `"}}}]}`, 0, "a text of more than 4 MiB"},
		{"another", "Nodes", `{"kind":"NodeList","other":[`, `"` + kilobyte + `",`, `1]}`, 0, ""},
		{"a large Node", "Nodes", nodesHead, `"a":"` + kilobyte + `",`, `"b":""}}}]}`, 0, "a part of more than 4 MiB"},
		{"slow", "Nodes", `{"kind":`, "", "", 0, "--timeout"},
	},
	"S3": {
		{"deep", "", "<ListBucketResult>", "<a>", "", 0, levels},
		{"keys", "", "<ListBucketResult>", "<Contents/>", "", 0, elements},
		{"a text", "", "<ListBucketResult><NextContinuationToken>", kilobyte, "", 0, "a text of more than 4 MiB"},
		{"texts", "", "<ListBucketResult>", "<a>" + kilobyte + "</a>", "", 1 << 20, "64 MiB"},
	},
}

// measured runs the program as a process of its own, and returns its exit status, what it
// says, and the peak of its memory in kB.
func measured(t *testing.T, args ...string) (code cli.ExitCode, said string, kB int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	c := exec.Command(self, args...)
	c.Args[0], c.Stdout, c.Stderr = peakCommand, &stdout, &stderr
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	out := strings.TrimSpace(stdout.String())
	if _, err := fmt.Sscanf(out[strings.LastIndexByte(out, '\n')+1:], "%d kB", &kB); err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr.String())
	}
	return cli.ExitCode(c.ProcessState.ExitCode()), out + stderr.String(), kB
}

// Whatever a server answers, in whatever form, it costs no more than 256 MiB beside what a
// run takes anyway, and the run says that it is incomplete, and why.
func TestHostileAnswersCostLittle(t *testing.T) {
	asked := os.Getenv("HOSTILE")
	for _, f := range faultFamilies {
		answers := hostileAnswers[f.name]
		if answers == nil || asked != "" && !strings.HasPrefix(asked, f.name) {
			continue
		}
		w, ec2 := (*runs.World)(nil), (*lab.EC2)(nil)
		if f.fleet != nil {
			w, ec2 = f.fleet(t)
		} else {
			w = runs.Fleet(t)
		}
		if ec2 == nil {
			ec2 = runs.ServeEC2(t, runs.FleetEC2())
		}
		file := filepath.Join(w.Dir, "report.json")
		args := slices.Concat([]string{"detect", "-o", file, "--quiet"}, w.Sources(), w.Reach(), f.args)
		_, _, usual := measured(t, append(args, "--timeout", "1m")...)
		for i := range answers {
			a := &answers[i]
			if _, name, ok := strings.Cut(asked, "/"); ok && name != a.name {
				continue
			}
			f.seat(w, ec2, func(out http.ResponseWriter, r *http.Request, next http.Handler) {
				if runs.CallOf(r) == a.call {
					a.serve(out, r)
					return
				}
				next.ServeHTTP(out, r)
			}, (&runs.Saboteur{}).Greet(handshake))
			began, timeout := time.Now(), "45s"
			switch {
			case a.again == "":
				timeout = "3s"
			case a.says == "": // however it ends: one takes all the time that it gets
				timeout = "15s"
			}
			code, said, peak := measured(t, append(args, "--timeout", timeout)...)
			t.Logf("| %s | %s | %s | %d | %.1f | %d |", f.name, a.call, a.name, (peak-usual)>>10, time.Since(began).Seconds(), code)
			if peak-usual > mostBeside {
				t.Errorf("%s, %s: %d MiB more than usual", f.name, a.name, (peak-usual)>>10)
			}
			text := string(runs.MustRead(t, file))
			if code != cli.ExitIncomplete || !strings.Contains(text, a.says) {
				t.Errorf("%s, %s %s: exit status %d, want %q\n%s", f.name, a.call, a.name, code, a.says, said)
			}
			if r, err := report.Read(strings.NewReader(text)); err != nil || r.Summary.Complete {
				t.Errorf("%s, %s %s: the report is complete: %v", f.name, a.call, a.name, err)
			}
		}
	}
}

// The same of a store's listing.
func TestHostileListingsCostLittle(t *testing.T) {
	b := runs.NewBucket(t)
	args := slices.Concat([]string{"backups", "s3://velero"}, b.Args)
	_, _, usual := measured(t, args...)
	for i := range hostileAnswers["S3"] {
		a := &hostileAnswers["S3"][i]
		server := httptest.NewServer(http.HandlerFunc(a.serve))
		code, said, peak := measured(t, slices.Concat(args, []string{"--s3-endpoint", server.URL})...)
		server.Close()
		t.Logf("| S3 | list | %s | %d | | %d |", a.name, (peak-usual)>>10, code)
		if peak-usual > mostBeside || code != cli.ExitUsage || !strings.Contains(said, a.says) {
			t.Errorf("%s: %d MiB more than usual, exit status %d, want %q\n%s", a.name, (peak-usual)>>10, code, a.says, said)
		}
	}
}
