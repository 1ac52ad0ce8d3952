// Command release cross-compiles drift-detector and packs one archive per
// platform, with LICENSE, README.md, the manual page, completions, the licences of all that
// is linked and a list of it (SBOM), and for Linux a deb and an rpm of the same. Beside them it
// writes how people get them (install.sh, a formula of Homebrew, a manifest of krew), the
// provenance, and SHA256SUMS over all of it. The same commit and Go version give the same bytes: times are the commit's,
// owners are 0, the order is fixed, and the build flags keep paths out.
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
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// options are what make release says.
type options struct {
	out, version, commit, releases, builder, key string
	when                                         time.Time
	targets, build                               []string
}

func main() {
	var o options
	flag.StringVar(&o.out, "out", "dist", "folder for the archives")
	flag.StringVar(&o.version, "version", "dev", "version in the archives' names")
	flag.StringVar(&o.commit, "commit", "unknown", "commit that is built, for the provenance")
	flag.StringVar(&o.releases, "releases", "", "address below which the folder of each release is, for install.sh, formula and manifest")
	flag.StringVar(&o.builder, "builder", "", "URI of what builds, for the provenance; without it the Makefile at this commit")
	flag.StringVar(&o.key, "key", "", "file with minisign's secret key, which signs SHA256SUMS; its password is asked for, or read from stdin")
	seconds := flag.Int64("time", 0, "time of every file, in seconds since 1970")
	targets := flag.String("targets", "", "GOOS/GOARCH pairs, separated by blanks")
	built := flag.String("describe", "", "GOOS/GOARCH=FILE pairs of programs that are built, separated by blanks")
	flag.Parse()
	o.when, o.targets, o.build = time.Unix(*seconds, 0).UTC(), strings.Fields(*targets), flag.Args()
	if o.builder == "" {
		o.builder = home(o.releases) + "/blob/" + o.commit + "/Makefile"
	}
	run := func() error { return release(o) }
	if *built != "" {
		run = func() error { return describe(o.version, o.when, strings.Fields(*built), o.build) }
	}
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// release builds all targets into the folder, and writes what is made of them. What was
// there before is replaced when it has the same name, and is never part of SHA256SUMS.
func release(o options) error {
	if len(o.targets) == 0 || len(o.build) == 0 {
		return fmt.Errorf("no targets, or nothing to build")
	}
	if err := releasable(o.version); err != nil {
		return err
	}
	docs, err := documents(o.build)
	if err != nil {
		return err
	}
	d := &dist{folder: o.out}
	var all []archived
	for _, target := range o.targets {
		goos, goarch, ok := strings.Cut(target, "/")
		if !ok {
			return fmt.Errorf("target %q is not GOOS/GOARCH", target)
		}
		a := archived{GOOS: goos, GOARCH: goarch, Folder: fmt.Sprintf("drift-detector-%s-%s-%s", o.version, goos, goarch)}
		files, err := platform(a.Folder, o, goos, goarch, docs)
		if err != nil {
			return fmt.Errorf("building %s: %w", target, err)
		}
		packed, err := archive(a.Folder, goos, files, o.when)
		if err != nil {
			return fmt.Errorf("packing %s: %w", target, err)
		}
		if a.Sum, err = d.announce(packed); err != nil {
			return err
		}
		a.File = packed.name
		all = append(all, a)
		if goos == "linux" {
			if err := d.packages(o, a, files); err != nil {
				return err
			}
		}
	}
	files, err := channels(o.version, o.releases, all)
	if err != nil {
		return err
	}
	for _, f := range files {
		if _, err := d.put(f); err != nil {
			return err
		}
	}
	return d.seal(o)
}

// What an archive says of what is linked.
const (
	sbomFile     = "drift-detector.cdx.json"
	licencesFile = "THIRD-PARTY-LICENSES.txt"
)

// platform builds for one platform, and returns what its archive holds, by name.
func platform(folder string, o options, goos, goarch string, docs []file) ([]file, error) {
	binary := "drift-detector"
	if goos == "windows" {
		binary += ".exe"
	}
	program, err := compile(binary, goos, goarch, o.build)
	if err != nil {
		return nil, err
	}
	list, notices, err := contents(program, o.version, goos, goarch, o.when, o.build)
	if err != nil {
		return nil, err
	}
	files := []file{{binary, program, 0o755}, {sbomFile, list, 0o644}, {licencesFile, notices, 0o644}}
	files = append(files, docs...)
	for i := range files {
		files[i].name = folder + "/" + files[i].name
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// archive packs the files in the form that the system unpacks.
func archive(folder, goos string, files []file, when time.Time) (file, error) {
	if goos == "windows" {
		content, err := zipped(files, when)
		return file{folder + ".zip", content, 0o644}, err
	}
	content, err := tarred(files, when)
	return file{folder + ".tar.gz", content, 0o644}, err
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

// documents returns what every archive holds beside the program. The manual page and the
// completions come out of the program itself, built for the machine that packs.
func documents(build []string) ([]file, error) {
	var docs []file
	for _, name := range []string{"LICENSE", "README.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		docs = append(docs, file{name: name, content: text, mode: 0o644})
	}
	dir, err := os.MkdirTemp("", "drift-detector-release-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "drift-detector")
	// As for the platforms: where C is on, Go would compile all packages once more.
	own, err := compile("drift-detector", runtime.GOOS, runtime.GOARCH, build)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(program, own, 0o700); err != nil {
		return nil, err
	}
	for _, d := range []struct{ name, command string }{
		{"drift-detector.1", "man"},
		{"completions/drift-detector.bash", "completion bash"},
		{"completions/_drift-detector", "completion zsh"},
		{"completions/drift-detector.fish", "completion fish"},
		{"completions/drift-detector.ps1", "completion powershell"},
	} {
		cmd := exec.Command(program, strings.Fields(d.command)...)
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("drift-detector %s: %w", d.command, err)
		}
		docs = append(docs, file{name: d.name, content: text, mode: 0o644})
	}
	return docs, nil
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

// settings are what else gets into the binary: the level of the instruction set, and
// flags, which are not to come from the user's shell.
var settings = []string{"CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT="}

// target returns the environment of go for one platform.
func target(goos, goarch string) []string {
	return slices.Concat(os.Environ(), settings, []string{"GOOS=" + goos, "GOARCH=" + goarch})
}
