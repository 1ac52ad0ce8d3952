package backuptest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"testing"
)

// EditRelease changes the release in a Secret in which Helm keeps one: base64 twice
// around gzip (helm pkg/storage/driver v3).
func EditRelease(t testing.TB, secret map[string]any, change func(release map[string]any)) {
	t.Helper()
	data := Inside(secret, "data")
	stored, err := base64.StdEncoding.DecodeString(text(data, "release"))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := base64.StdEncoding.DecodeString(string(stored))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var release map[string]any
	if err := json.NewDecoder(z).Decode(&release); err != nil {
		t.Fatal(err)
	}
	change(release)
	body, err := json.Marshal(release)
	if err != nil {
		t.Fatal(err)
	}
	data["release"] = PackRelease(body)
}

// PackRelease returns the member release of the data of such a Secret.
func PackRelease(release []byte) string {
	return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(Compress(release))))
}
