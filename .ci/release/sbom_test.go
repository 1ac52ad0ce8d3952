package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// inRepository returns the modules of the program itself, for a platform.
func inRepository(t *testing.T, goos string) modules {
	t.Helper()
	t.Chdir("../..")
	all, err := linked(goos, "amd64", []string{"./cmd/drift-detector"})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every module that is linked has a licence, and its text is in the notices.
func TestLicences(t *testing.T) {
	all := inRepository(t, "linux")
	for path, want := range map[string]string{
		mainModule: "Apache-2.0", standardLibrary: "BSD-3-Clause", "github.com/mholt/archiver/v3": "MIT", "github.com/vbauerster/mpb/v8": "Unlicense",
		"go.yaml.in/yaml/v3": "Apache-2.0 MIT", "github.com/vmware/govmomi": "Apache-2.0 BSD-3-Clause",
		"github.com/xi2/xz": publicDomain, "github.com/russross/blackfriday/v2": "BSD-2-Clause", "github.com/ulikunitz/xz": "BSD-3-Clause",
	} {
		if m := all[path]; m == nil || strings.Join(m.licenses, " ") != want {
			t.Errorf("%s: %+v, want %s", path, m, want)
		}
	}
	notices := string(all.notices())
	for path, m := range all {
		for name, text := range m.texts {
			if path != mainModule && (!strings.Contains(notices, text) || !strings.Contains(notices, path+" "+m.version+": "+name+"\n")) {
				t.Errorf("%s of %s is not in the notices", name, path)
			}
		}
	}
	none := &module{texts: map[string]string{"LICENSE": "All rights reserved."}}
	if err := none.classify(); err == nil {
		t.Errorf("taken for %q", none.licenses)
	}
}

// The SBOM keeps the rules of CycloneDX 1.6 that its schema has for what is in it, and
// is the same each time.
func TestSBOM(t *testing.T) {
	all := inRepository(t, "windows")
	content, err := sbom("drift-detector", "v1.2.3-4-gabc", "windows", "amd64", when, all)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := sbom("drift-detector", "v1.2.3-4-gabc", "windows", "amd64", when, all); err != nil || !bytes.Equal(content, again) {
		t.Errorf("made twice, it differs; error %v", err)
	}
	var b bom
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		t.Fatal(err)
	}
	if b.Format != "CycloneDX" || b.SpecVersion != "1.6" || b.Version != 1 || !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(b.SerialNumber) {
		t.Errorf("it begins with %+v", b)
	}
	if _, err := time.Parse(time.RFC3339, b.Metadata.Timestamp); err != nil {
		t.Error(err)
	}
	if p := b.Metadata.Component; p.Type != "application" || p.PURL != "pkg:golang/drift-detector@v1.2.3-4-gabc?goarch=amd64&goos=windows" {
		t.Errorf("it is about %+v", p)
	}
	valid := regexp.MustCompile(`^pkg:golang(/[a-z0-9._~!-]+)+@[^@/]+$`)
	refs := map[string]bool{}
	for _, c := range append(b.Components, b.Metadata.Component) {
		if refs[c.Ref] || c.Ref != c.PURL || !valid.MatchString(c.PURL) || c.Name == "" || c.Version == "" || len(c.Licenses) == 0 {
			t.Errorf("component %+v", c)
		}
		refs[c.Ref] = true
		for _, l := range c.Licenses {
			if (l.License.ID == "") == (l.License.Name == "") {
				t.Errorf("licence %+v of %s", l, c.Ref)
			}
		}
	}
	if len(b.Components) < 60 || len(b.Dependencies) != len(refs) {
		t.Errorf("%d components, %d dependencies, %d refs", len(b.Components), len(b.Dependencies), len(refs))
	}
	reached := map[string]bool{b.Metadata.Component.Ref: true}
	for range b.Dependencies { // as often as a chain can be long
		for _, dep := range b.Dependencies {
			if !refs[dep.Ref] || slices.ContainsFunc(dep.DependsOn, func(to string) bool { return !refs[to] }) {
				t.Fatalf("dependency %+v on what is no component", dep)
			}
			for _, to := range dep.DependsOn {
				reached[to] = reached[to] || reached[dep.Ref]
			}
		}
	}
	for ref := range refs {
		if !reached[ref] {
			t.Errorf("nothing needs %s", ref)
		}
	}
}

// The path of a module is in lower case, and what may not be in a URL is escaped.
func TestPURL(t *testing.T) {
	for want, m := range map[string][2]string{
		"pkg:golang/github.com/vividcortex/ewma@v1.2.0":  {"github.com/VividCortex/ewma", "v1.2.0"},
		"pkg:golang/example.com/a@v2.0.0%2Bincompatible": {"example.com/a", "v2.0.0+incompatible"},
	} {
		if got := purl(m[0], m[1], ""); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
