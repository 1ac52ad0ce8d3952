// Generate cuts the schema of the built-in kinds out of client-go, whose parser
// is a package of 18 MB in the binary and of one text that is of use here.
package main

import (
	"bytes"
	"compress/gzip"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/client-go").Output()
	if err != nil {
		log.Fatal(err)
	}
	code, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "applyconfigurations/internal/internal.go"))
	if err != nil {
		log.Fatal(err)
	}
	_, text, found := bytes.Cut(code, []byte("typed.YAMLObject(`"))
	text, _, ended := bytes.Cut(text, []byte("`)"))
	if !found || !ended {
		log.Fatal("client-go has no schema where it was")
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if _, err := w.Write(text); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("schema.yaml.gz", packed.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
