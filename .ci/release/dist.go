package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// dist is the folder of a release, with the sums of what was written there.
type dist struct {
	folder string
	made   []summed
}

type summed struct{ name, sum string }

// put writes a file, and returns its sum.
func (d *dist) put(f file) (sum string, err error) {
	if err := os.MkdirAll(d.folder, 0o755); err != nil {
		return "", err
	}
	place := filepath.Join(d.folder, f.name)
	if err := os.WriteFile(place, f.content, f.mode); err != nil {
		return "", err
	}
	sum = fmt.Sprintf("%x", sha256.Sum256(f.content))
	d.made = append(d.made, summed{f.name, sum})
	return sum, os.Chmod(place, f.mode) // also of a file that was there before
}

// announce puts a file, and prints how large it is.
func (d *dist) announce(f file) (sum string, err error) {
	if sum, err = d.put(f); err == nil {
		fmt.Printf("%s %.1f MB\n", filepath.Join(d.folder, f.name), float64(len(f.content))/1e6)
	}
	return sum, err
}

// seal writes what is said of all files: their provenance, unless what was built is not the
// commit, and their sums.
func (d *dist) seal(o options) error {
	slices.SortFunc(d.made, func(a, b summed) int { return strings.Compare(a.name, b.name) })
	if changed, err := uncommitted(); err != nil {
		return err
	} else if changed != "" {
		fmt.Println("no provenance: what is built is not the commit")
		if err := os.RemoveAll(filepath.Join(d.folder, provenanceFile)); err != nil {
			return err
		}
	} else {
		_, goVersion, err := toolchain()
		if err != nil {
			return err
		}
		said, err := provenance(o, goVersion, d.made)
		if err != nil {
			return err
		}
		if _, err := d.put(said); err != nil {
			return err
		}
	}
	if strings.Contains(o.releases, "/OWNER/") {
		fmt.Println("RELEASES is not given: install.sh takes only --from, and the formula and the manifest lead nowhere")
	}
	var sums strings.Builder
	for _, m := range d.made {
		fmt.Fprintf(&sums, "%s  %s\n", m.sum, m.name)
	}
	if err := os.WriteFile(filepath.Join(d.folder, "SHA256SUMS"), []byte(sums.String()), 0o644); err != nil {
		return err
	}
	return d.sign(o)
}

// sign writes the signature of SHA256SUMS, as minisign does, but without the time. Without a
// key an old signature is removed: it is of other sums.
func (d *dist) sign(o options) error {
	sums := filepath.Join(d.folder, "SHA256SUMS")
	if o.key == "" {
		return os.RemoveAll(sums + ".minisig")
	}
	minisign, err := tool("minisign")
	if err != nil {
		return err
	}
	cmd := exec.Command(minisign, "-S", "-s", o.key, "-m", sums, "-c", "SHA256SUMS of drift-detector "+o.version, "-t", "drift-detector "+o.version)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr // it asks for the password
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("signing SHA256SUMS: %w", err)
	}
	return nil
}

// tool builds a program that the module .ci/package pins, and returns where it is.
func tool(name string) (string, error) {
	cmd := exec.Command("go", "-C", filepath.Join(".ci", "package"), "tool", "-n", name)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("building %s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}
