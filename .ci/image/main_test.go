package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ociv1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// list stands for an SBOM.
const list = `{"bomFormat":"CycloneDX"}`

func packed(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	for suffix, text := range map[string]string{"": "#!program", ".cdx.json": list, ".licenses.txt": "licences"} {
		if err := os.WriteFile(program+suffix, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "image.tar")
	if err := pack(out, "v1.2.3", "abc", time.Unix(1700000000, 0).UTC(), []string{"linux/amd64=" + program, "linux/arm64=" + program}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// unpack extracts a layout into a folder.
func unpack(t *testing.T, content []byte) string {
	t.Helper()
	dir := t.TempDir()
	r := tar.NewReader(bytes.NewReader(content))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		blob, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, blob, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSameInputGivesTheSameBytes(t *testing.T) {
	if !bytes.Equal(packed(t), packed(t)) {
		t.Error("two runs differ")
	}
}

func TestImageIsValidAndUnprivileged(t *testing.T) {
	index, err := layout.ImageIndexFromPath(unpack(t, packed(t)))
	if err != nil {
		t.Fatal(err)
	}
	outer, err := index.IndexManifest()
	if err != nil || len(outer.Manifests) != 1 {
		t.Fatalf("%v, %v", outer, err)
	}
	if got := outer.Manifests[0].Annotations["org.opencontainers.image.ref.name"]; got != "v1.2.3" {
		t.Errorf("the layout calls the image %q", got)
	}
	inner, err := index.ImageIndex(outer.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(inner); err != nil {
		t.Error(err)
	}
	manifest, err := inner.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
		image, err := inner.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		checkConfig(t, image, m.Platform)
		checkFiles(t, image)
	}
	if len(platforms) != 2 || platforms[0] != "linux/amd64" || platforms[1] != "linux/arm64" {
		t.Errorf("platforms %v", platforms)
	}
}

func checkConfig(t *testing.T, image ociv1.Image, p *ociv1.Platform) {
	t.Helper()
	c, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if c.Config.User != user || c.Architecture != p.Architecture || c.Config.Entrypoint[0] != "/drift-detector" {
		t.Errorf("%s: user %q, architecture %s, entrypoint %v", p, c.Config.User, c.Architecture, c.Config.Entrypoint)
	}
}

func checkFiles(t *testing.T, image ociv1.Image) {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	files := map[string]*tar.Header{}
	texts := map[string]string{}
	roots := 0
	for r := tar.NewReader(content); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = h
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		texts[h.Name] = string(text)
		if h.Name == "etc/ssl/certs/ca-certificates.crt" {
			for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
				if _, err := x509.ParseCertificate(block.Bytes); err != nil {
					t.Error(err)
				}
				roots++
			}
		}
	}
	if roots < 50 {
		t.Errorf("%d certificate authorities", roots)
	}
	if f := files["drift-detector"]; f == nil || f.Mode != 0o755 || f.Uid != 0 {
		t.Errorf("the program is %+v", f)
	}
	if texts[docs+"drift-detector.cdx.json"] != list || texts[docs+"THIRD-PARTY-LICENSES.txt"] != "licences" {
		t.Errorf("what the program is made of: %q", texts[docs+"drift-detector.cdx.json"])
	}
	for name := range files {
		if folder := path.Dir(strings.TrimSuffix(name, "/")); folder != "." && files[folder+"/"] == nil {
			t.Errorf("%s is in a folder that the image lacks", name)
		}
	}
	if f := files["tmp/"]; f == nil || f.Mode != 0o1777 {
		t.Errorf("/tmp is %+v", f)
	}
}

// An image without its SBOM is not made.
func TestWrongArguments(t *testing.T) {
	bare := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(bare, []byte("#!program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"linux/amd64=" + bare}, {"linux/amd64"}, {"linux=x"}, {"linux/amd64=/does/not/exist"}} {
		if err := pack(filepath.Join(t.TempDir(), "image.tar"), "v1", "", time.Time{}, args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
