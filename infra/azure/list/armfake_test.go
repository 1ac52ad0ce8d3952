//go:build armfake

package list

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"drift-detector/infra"
)

// The fake to which unpatched controllers spoke is listed as internal/lab/azurelab is: under
// Azure's own host names, in pages, and whatever case it writes resource groups in.
func TestFaked(t *testing.T) {
	at := os.Getenv("ARMFAKE")
	if at == "" {
		t.Fatal("ARMFAKE is not set: make test-azure")
	}
	for _, page := range []int{0, 3} {
		for _, groups := range []string{"keep", "upper", "upperInLists"} {
			res, err := http.Post(at+"/_lab/config", "application/json", strings.NewReader(fmt.Sprintf(`{"page": %d, "rgCase": %q}`, page, groups)))
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			for _, file := range []string{"azure-data.tar.gz", "azure-cluster-scoped-data.tar.gz"} {
				t.Run(fmt.Sprintf("pages of %d, groups: %s, %s", page, groups, file), func(t *testing.T) {
					data, err := os.ReadFile(lab + file)
					if err != nil {
						t.Fatal(err)
					}
					demandTruth(t, decide(t, data, infra.Access{Options: map[string]string{"azure-ambient": "true"}}), readTruth(t))
				})
			}
		}
	}
}
