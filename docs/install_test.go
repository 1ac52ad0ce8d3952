package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Each way to install has its way to uninstall.
func TestUninstallOfEachInstall(t *testing.T) {
	page, err := os.ReadFile("install.md")
	if err != nil {
		t.Fatal(err)
	}
	install, rest, ok := strings.Cut(string(page), "\n## Uninstall\n")
	uninstall, _, _ := strings.Cut(rest, "\n## ")
	ways := regexp.MustCompile(`(?m)^\| ([^|]+) \| .+ \|$`).FindAllStringSubmatch(install, -1)
	if !ok || len(ways) < 8 { // with the heads of the table
		t.Fatalf("%d ways", len(ways))
	}
	for _, w := range ways {
		if w[1] != "with" && !strings.Contains(uninstall, "\n| "+w[1]+" | ") {
			t.Errorf("nothing says how to uninstall what came with %s", w[1])
		}
	}
}
