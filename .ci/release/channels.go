package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"text/template"
)

// installer is a script with two places to fill: @VERSION@ and @RELEASES@.
//
//go:embed install.sh
var installer string

// channel is what the files of a channel are filled with: how people get a release.
type channel struct {
	Version, Semver, Releases, Home string
	Systems                         []*system
}

// system is an operating system with its archives.
type system struct {
	GOOS     string
	Archives []archived
}

type archived struct {
	GOOS, GOARCH, Folder, File, Sum string
}

// What goes into scripts and manifests unquoted.
var (
	plainVersion = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+_-]*$`)
	plainAddress = regexp.MustCompile(`^https://[0-9A-Za-z.-]+(:[0-9]+)?(/[0-9A-Za-z._-]+)+$`)
)

// channels returns install.sh, the formula of Homebrew and the manifest of krew, of the archives
// that were just packed.
func channels(version, releases string, packed []archived) ([]file, error) {
	if !plainVersion.MatchString(version) || !plainAddress.MatchString(releases) {
		return nil, fmt.Errorf("version %q or address %q has what no script can hold", version, releases)
	}
	c := channel{Version: version, Semver: semver(version), Releases: releases, Home: home(releases)}
	for _, a := range packed {
		if len(c.Systems) == 0 || c.Systems[len(c.Systems)-1].GOOS != a.GOOS {
			c.Systems = append(c.Systems, &system{GOOS: a.GOOS})
		}
		last := c.Systems[len(c.Systems)-1]
		last.Archives = append(last.Archives, a)
	}
	script := strings.NewReplacer("@VERSION@", version, "@RELEASES@", releases).Replace(installer)
	all := []file{{"install.sh", []byte(script), 0o755}}
	for _, t := range []*template.Template{formula, krew} {
		var out bytes.Buffer
		if err := t.Execute(&out, c); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name(), err)
		}
		all = append(all, file{t.Name(), out.Bytes(), 0o644})
	}
	return all, nil
}

// home returns the page of the repository whose releases are at an address.
func home(releases string) string { return strings.TrimSuffix(releases, "/releases/download") }

// Homebrew: a formula for a tap. https://docs.brew.sh/Formula-Cookbook
var formula = template.Must(template.New("drift-detector.rb").Parse(`class DriftDetector < Formula
  desc "Says what a restore of a Cluster API management cluster will find"
  homepage "{{.Home}}"
  version "{{slice .Semver 1}}"
  license "Apache-2.0"
{{range .Systems}}{{if ne .GOOS "windows"}}
  on_{{if eq .GOOS "darwin"}}macos{{else}}{{.GOOS}}{{end}} do{{range .Archives}}
    on_{{if eq .GOARCH "amd64"}}intel{{else}}arm{{end}} do
      url "{{$.Releases}}/{{$.Version}}/{{.File}}"
      sha256 "{{.Sum}}"
    end{{end}}
  end
{{end}}{{end}}
  def install
    bin.install "drift-detector"
    man1.install "drift-detector.1"
    bash_completion.install "completions/drift-detector.bash" => "drift-detector"
    zsh_completion.install "completions/_drift-detector"
    fish_completion.install "completions/drift-detector.fish"
    doc.install "THIRD-PARTY-LICENSES.txt", "drift-detector.cdx.json"
  end

  test do
    assert_match "{{.Version}}", shell_output("#{bin}/drift-detector version")
  end
end
`))

// krew: a plugin of kubectl, "kubectl drift-detector".
// https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
var krew = template.Must(template.New("drift-detector.yaml").Parse(`apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: drift-detector
spec:
  version: "{{.Semver}}"
  homepage: {{.Home}}
  shortDescription: What a restore of a management cluster will find
  description: |
    The management cluster of Cluster API is lost, its Velero backup is there,
    the workload clusters still run. This compares the backup with the VMs that
    run, and says what the restored controllers will find, and do. It changes
    nothing.
  platforms:{{range .Systems}}{{range .Archives}}
  - selector:
      matchLabels:
        os: {{.GOOS}}
        arch: {{.GOARCH}}
    uri: {{$.Releases}}/{{$.Version}}/{{.File}}
    sha256: {{.Sum}}
    bin: drift-detector{{if eq .GOOS "windows"}}.exe{{end}}
    files:
    - from: {{.Folder}}/drift-detector{{if eq .GOOS "windows"}}.exe{{end}}
      to: .
    - from: {{.Folder}}/LICENSE
      to: .
    - from: {{.Folder}}/THIRD-PARTY-LICENSES.txt
      to: .{{end}}{{end}}
`))
