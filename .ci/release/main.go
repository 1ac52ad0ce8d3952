// Command release cross-compiles drift-detector and packs one archive per
// platform, with LICENSE, README.md, the manual page, the licences of all that is linked
// and a list of it (SBOM), and SHA256SUMS over them. The same commit and Go version give
// the same bytes: times are the commit's, owners are 0, the order is fixed, and the build
// flags keep paths out.
//
//	go run ./.ci/release -out dist -version v1 -time 1700000000 -targets "linux/amd64 windows/amd64" -- BUILD-FLAGS PACKAGE
//
// With -describe it packs nothing, and writes the list and the licences beside programs
// that are built, for the image:
//
//	go run ./.ci/release -describe "linux/amd64=FILE" -version v1 -time 1700000000 -- BUILD-FLAGS PACKAGE
//
// It is run from the root of the repository, by make release and make image.
package main

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	out := flag.String("out", "dist", "folder for the archives")
	version := flag.String("version", "dev", "version in the archives' names")
	seconds := flag.Int64("time", 0, "time of every file, in seconds since 1970")
	targets := flag.String("targets", "", "GOOS/GOARCH pairs, separated by blanks")
	built := flag.String("describe", "", "GOOS/GOARCH=FILE pairs of programs that are built, separated by blanks")
	flag.Parse()
	when := time.Unix(*seconds, 0).UTC()
	run := func() error { return release(*out, *version, when, strings.Fields(*targets), flag.Args()) }
	if *built != "" {
		run = func() error { return describe(*version, when, strings.Fields(*built), flag.Args()) }
	}
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// release builds all targets into out. What lay in out before is replaced when
// it has the same name, and is never part of SHA256SUMS.
func release(out, version string, when time.Time, targets, build []string) error {
	if len(targets) == 0 || len(build) == 0 {
		return fmt.Errorf("no targets, or nothing to build")
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	docs, err := documents(build)
	if err != nil {
		return err
	}
	var sums []string
	for _, target := range targets {
		goos, goarch, ok := strings.Cut(target, "/")
		if !ok {
			return fmt.Errorf("target %q is not GOOS/GOARCH", target)
		}
		name := fmt.Sprintf("drift-detector-%s-%s-%s", version, goos, goarch)
		content, file, err := archive(name, version, goos, goarch, when, build, docs)
		if err != nil {
			return fmt.Errorf("building %s: %w", target, err)
		}
		if err := os.WriteFile(filepath.Join(out, file), content, 0o644); err != nil {
			return err
		}
		sums = append(sums, fmt.Sprintf("%x  %s\n", sha256.Sum256(content), file))
		fmt.Printf("%s %.1f MB\n", filepath.Join(out, file), float64(len(content))/1e6)
	}
	slices.SortFunc(sums, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(strings.Join(sums, "")), 0o644)
}

// What an archive says of what is linked.
const (
	sbomFile     = "drift-detector.cdx.json"
	licencesFile = "THIRD-PARTY-LICENSES.txt"
)

// archive builds one platform and returns its archive and the archive's name.
func archive(name, version, goos, goarch string, when time.Time, build []string, docs []file) ([]byte, string, error) {
	binary := "drift-detector"
	if goos == "windows" {
		binary += ".exe"
	}
	program, err := compile(binary, goos, goarch, build)
	if err != nil {
		return nil, "", err
	}
	list, notices, err := contents(program, version, goos, goarch, when, build)
	if err != nil {
		return nil, "", err
	}
	files := []file{{name: name + "/" + binary, content: program, mode: 0o755}}
	for _, doc := range append(slices.Clone(docs), file{sbomFile, list, 0o644}, file{licencesFile, notices, 0o644}) {
		doc.name = name + "/" + doc.name
		files = append(files, doc)
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	if goos == "windows" {
		content, err := zipped(files, when)
		return content, name + ".zip", err
	}
	content, err := tarred(files, when)
	return content, name + ".tar.gz", err
}

// contents lists what a program is made of: its SBOM, and all licences.
func contents(program []byte, version, goos, goarch string, when time.Time, build []string) (list, notices []byte, err error) {
	all, err := linked(goos, goarch, build)
	if err != nil {
		return nil, nil, err
	}
	if err := all.confirm(program); err != nil {
		return nil, nil, err
	}
	list, err = sbom("drift-detector", version, goos, goarch, when, all)
	return list, all.notices(), err
}

// describe writes what programs are made of beside each: FILE.cdx.json and FILE.licenses.txt.
func describe(version string, when time.Time, built, build []string) error {
	for _, b := range built {
		platform, file, ok := strings.Cut(b, "=")
		goos, goarch, ok2 := strings.Cut(platform, "/")
		if !ok || !ok2 {
			return fmt.Errorf("%q is not GOOS/GOARCH=FILE", b)
		}
		program, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		list, notices, err := contents(program, version, goos, goarch, when, build)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for suffix, content := range map[string][]byte{".cdx.json": list, ".licenses.txt": notices} {
			if err := os.WriteFile(file+suffix, content, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// documents are what every archive holds beside the program. The manual page
// comes out of the program itself, built for the machine that packs.
func documents(build []string) ([]file, error) {
	var docs []file
	for _, name := range []string{"LICENSE", "README.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		docs = append(docs, file{name: name, content: text, mode: 0o644})
	}
	cmd := exec.Command("go", slices.Concat([]string{"run"}, build, []string{"man"})...)
	cmd.Stderr = os.Stderr
	page, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("making the manual page: %w", err)
	}
	return append(docs, file{name: "drift-detector.1", content: page, mode: 0o644}), nil
}

// compile returns the bytes of the program for one platform.
func compile(binary, goos, goarch string, build []string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "drift-detector-release-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, binary)
	var said bytes.Buffer
	cmd := exec.Command("go", append([]string{"build", "-o", program}, build...)...)
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Env = target(goos, goarch)
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, said.Bytes())
	}
	return os.ReadFile(program)
}

// target is the environment of go for one platform. The level of the instruction set and
// flags of the user's shell would otherwise get into the binary.
func target(goos, goarch string) []string {
	return append(os.Environ(),
		"CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=")
}
