//go:build moto

package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/store"
	"drift-detector/infra/store/storetest"
	"drift-detector/internal/moto"
)

// motoBucket makes the lab's bucket, and returns what puts further objects.
func motoBucket(t *testing.T, url string) func(path string, body []byte) {
	t.Helper()
	put := func(path string, body []byte) {
		t.Helper()
		req, err := http.NewRequest(http.MethodPut, url+"/"+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+storetest.KeyID+"/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0") // moto verifies none
		res, err := http.DefaultClient.Do(req)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatal(path, res, err)
		}
		res.Body.Close()
	}
	put("velero", nil)
	err := filepath.WalkDir(lab, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		rel, _ := filepath.Rel(lab, path)
		put("velero/mgmt-cluster-1/"+filepath.ToSlash(rel), body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return put
}

// TestMoto: the lab's bucket, as it is, in an S3 written by others: every kind of place,
// more keys than a page has, and what it refuses.
func TestMoto(t *testing.T) {
	url := moto.Serve(t)
	put := motoBucket(t, url)
	o := store.Options{Endpoint: url, Keys: &infra.Credential{Username: storetest.KeyID, Password: backup.NewSensitive(storetest.Secret), Source: "the test"}}
	want := tarball(t)
	for _, address := range []string{"s3://velero", "s3://velero/mgmt-cluster-1", "s3://velero/mgmt-cluster-1/backups/mgmt-full", "s3://velero/mgmt-cluster-1/backups/mgmt-full/mgmt-full.tar.gz"} {
		body, found, err := content(t.Context(), at(t, address, o))
		if err != nil || !bytes.Equal(body, want) || found.Description == nil {
			t.Errorf("%s: %d bytes, %v", address, len(body), err)
		}
	}
	for i := range 1100 {
		put(fmt.Sprintf("velero/mgmt-cluster-1/backups/old-%d/old-%d-logs.gz", i, i), nil)
	}
	all, err := at(t, "s3://velero/mgmt-cluster-1", o).Backups(t.Context())
	if err != nil || len(all) != 1101 {
		t.Errorf("%d backups, %v", len(all), err)
	}
	for address, says := range map[string]string{
		"s3://no-such-bucket":                              "there is no such bucket",
		"s3://velero/no-such-prefix":                       "no backup of Velero is here",
		"s3://velero/mgmt-cluster-1/backups/none/n.tar.gz": "there is no such object",
	} {
		_, _, err := content(t.Context(), at(t, address, o))
		if !errors.As(err, new(*backup.InputError)) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", address, err)
		}
	}
	// A part of it, and one that has been replaced meanwhile.
	p := at(t, "s3://velero/mgmt-cluster-1", o)
	found, err := at(t, "s3://velero/mgmt-cluster-1/backups/mgmt-full", o).Only(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	put("velero/mgmt-cluster-1/backups/mgmt-full/mgmt-full.tar.gz", want[:len(want)-1])
	if _, err := p.Source(t.Context(), found).Open(); err == nil || !strings.Contains(err.Error(), "has been replaced") {
		t.Errorf("replaced: %v", err)
	}
}
