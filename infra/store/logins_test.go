package store

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
)

// One key at four places of a store, with four secrets: it is refused twice, and then not
// asked again.
func TestOneKeyIsRefusedTwice(t *testing.T) {
	for _, code := range []string{"SignatureDoesNotMatch", "InvalidAccessKeyId"} {
		var refused atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			refused.Add(1)
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
		}))
		t.Cleanup(server.Close)
		var logins infra.Logins
		told := 0
		for i := range 4 {
			at := strings.Replace(server.URL, "127.0.0.1", []string{"127.0.0.1", "localhost"}[i%2], 1)
			keys := &infra.Credential{Username: "AKID", Password: backup.NewSensitive(fmt.Sprint("old-", i))}
			p, _, err := Open(t.Context(), fmt.Sprintf("s3://bucket%d", i), Options{Endpoint: at, Keys: keys, Logins: &logins})
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Backups(t.Context())
			var input *backup.InputError
			if !errors.As(err, &input) || !strings.Contains(input.Problem, "refuses the key") {
				t.Error(err)
			}
			if errors.Is(err, infra.ErrLockout) {
				told++
			}
		}
		if n := refused.Load(); n != infra.MaxFailedLogins || told != 2 {
			t.Errorf("%s: %d were refused, %d not asked", code, n, told)
		}
	}
}
