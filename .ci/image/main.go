// Command image packs drift-detector into an OCI image for several platforms:
// the static binary, the list of what it is made of (SBOM) and all licences, the
// certificate authorities that Mozilla trusts (AWS is verified against them), an empty
// /tmp and an unprivileged user. It needs no container runtime. The same binaries and
// modules give the same bytes.
//
//	go run . -out image.tar -version v1 -time 1700000000 linux/amd64=bin/drift-detector …
//
// The list and the licences are beside each binary, as .ci/release -describe writes them.
// The result is a tar of an OCI image layout, as skopeo, podman, crane and Docker
// (25 and later) load it. It is run by make image.
package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	ociv1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is "nonroot" of distroless images, which admission policies know.
const user = "65532:65532"

func main() {
	out := flag.String("out", "image.tar", "tar to write")
	version := flag.String("version", "dev", "version, for the image's labels and its name in the layout")
	revision := flag.String("revision", "", "commit, for the image's labels")
	seconds := flag.Int64("time", 0, "time of everything in the image, in seconds since 1970")
	flag.Parse()
	if err := pack(*out, *version, *revision, time.Unix(*seconds, 0).UTC(), flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "image: %v\n", err)
		os.Exit(1)
	}
}

// pack writes an image index with one image per "os/arch=binary" to out.
func pack(out, version, revision string, when time.Time, binaries []string) error {
	if len(binaries) == 0 {
		return fmt.Errorf("no binaries: name each as os/arch=file")
	}
	labels := map[string]string{
		"org.opencontainers.image.title":       "drift-detector",
		"org.opencontainers.image.description": "Says what a restore of a Cluster API management cluster will find",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     version,
		"org.opencontainers.image.revision":    revision,
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range binaries {
		platform, file, ok := strings.Cut(b, "=")
		p, err := ociv1.ParsePlatform(platform)
		if !ok || err != nil {
			return fmt.Errorf("%q is not os/arch=file", b)
		}
		content, err := contents(file)
		if err != nil {
			return err
		}
		image, err := imageOf(content, *p, labels, when)
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: ociv1.Descriptor{Platform: p}})
	}
	return writeLayout(out, index, version, when)
}

// entry is a file of the image, or a folder, whose name ends in a slash.
type entry struct {
	name    string
	mode    int64
	content []byte
}

// docs is where scanners of images look for an SBOM, and people for licences.
const docs = "usr/share/doc/drift-detector/"

// contents reads a program and what is said of it beside it.
func contents(file string) ([]entry, error) {
	all := []entry{
		{name: "drift-detector", mode: 0o755},
		{name: "usr/", mode: 0o755},
		{name: "usr/share/", mode: 0o755},
		{name: "usr/share/doc/", mode: 0o755},
		{name: docs, mode: 0o755},
		{name: docs + "drift-detector.cdx.json", mode: 0o644},
		{name: docs + "THIRD-PARTY-LICENSES.txt", mode: 0o644},
	}
	for i, from := range map[int]string{0: file, 5: file + ".cdx.json", 6: file + ".licenses.txt"} {
		content, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		if len(content) == 0 {
			return nil, fmt.Errorf("%s is empty", from)
		}
		all[i].content = content
	}
	return all, nil
}

// imageOf returns the image for one platform, of one layer.
func imageOf(files []entry, p ociv1.Platform, labels map[string]string, when time.Time) (ociv1.Image, error) {
	content, err := layer(files, when)
	if err != nil {
		return nil, err
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.Append(image, mutate.Addendum{Layer: l, History: ociv1.History{Created: ociv1.Time{Time: when}, CreatedBy: "make image"}}); err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, withConfig(image, p, labels, when))
}

// withConfig returns the image's configuration: how a container of it runs.
func withConfig(image ociv1.Image, p ociv1.Platform, labels map[string]string, when time.Time) *ociv1.ConfigFile {
	c, err := image.ConfigFile()
	if err != nil {
		panic(err) // it was made in memory
	}
	c = c.DeepCopy()
	c.Created, c.Architecture, c.OS, c.Variant = ociv1.Time{Time: when}, p.Architecture, p.OS, p.Variant
	c.Config = ociv1.Config{
		Entrypoint: []string{"/drift-detector"},
		User:       user,
		WorkingDir: "/",
		Env:        []string{"PATH=/", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt", "HOME=/tmp"},
		Labels:     labels,
	}
	return c
}

// layer returns the tar of the image's files: these, and those of every image.
func layer(files []entry, when time.Time) ([]byte, error) {
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		if err := pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range append(files, []entry{
		{"etc/", 0o755, nil},
		{"etc/group", 0o644, []byte("nonroot:x:65532:\n")},
		{"etc/passwd", 0o644, []byte("nonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n")},
		{"etc/ssl/", 0o755, nil},
		{"etc/ssl/certs/", 0o755, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, roots.Bytes()},
		{"tmp/", 0o1777, nil},
	}...) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: when, Format: tar.FormatUSTAR}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// writeLayout writes the index as an OCI image layout, packed into one tar.
func writeLayout(out string, index ociv1.ImageIndex, version string, when time.Time) error {
	dir, err := os.MkdirTemp("", "drift-detector-image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := p.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": version})); err != nil {
		return err
	}
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		blob, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(blob)), ModTime: when, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		_, err = w.Write(blob)
		return err
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(out, content.Bytes(), 0o644)
}
