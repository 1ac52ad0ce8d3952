package openstackcloud

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"drift-detector/internal/lab/openstacklab"
)

// written is when the recorded backup was taken.
var written = time.Date(2026, 11, 22, 2, 32, 18, 0, time.UTC)

// Backup returns the recorded backup as if it had been taken of this cloud right before the
// drift: its ids are the cloud's, its times are later, and its Secrets name the cloud,
// those of tenant-os-b with the account of the other project.
func (f *Fleet) Backup(t testing.TB, tarball string) []byte {
	t.Helper()
	data, err := os.ReadFile(tarball)
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.rewrite(data)
	if err != nil {
		t.Fatalf("rewriting %s: %v", tarball, err)
	}
	return out
}

func (f *Fleet) rewrite(data []byte) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	later := f.Drifted.Sub(written).Truncate(time.Second)
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	from, to := tar.NewReader(unzipped), tar.NewWriter(zipped)
	for {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			err := errors.Join(to.Close(), zipped.Close())
			return out.Bytes(), err
		}
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(from)
		if err != nil {
			return nil, err
		}
		if body, err = f.item(h.Name, body, later); err != nil {
			return nil, fmt.Errorf("%s: %w", h.Name, err)
		}
		h.Size, h.ModTime = int64(len(body)), written.Add(later) // the recorded one was packed a minute later
		if err := to.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := to.Write(body); err != nil {
			return nil, err
		}
	}
}

var aTime = regexp.MustCompile(`"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"`)

// item returns an item of the backup as this cloud's.
func (f *Fleet) item(path string, body []byte, later time.Duration) ([]byte, error) {
	body = f.Now(aTime.ReplaceAllFunc(body, func(quoted []byte) []byte {
		when, err := time.Parse(`"`+time.RFC3339Nano+`"`, string(quoted))
		if err != nil {
			return quoted
		}
		return []byte(`"` + when.Add(later).Format(time.RFC3339) + `"`)
	}))
	if !strings.HasPrefix(path, "resources/secrets/") || !strings.Contains(path, "cloud-config") {
		return body, nil
	}
	var secret Object
	if err := json.Unmarshal(body, &secret); err != nil {
		return nil, err
	}
	a := f.A
	if strings.Contains(path, "/tenant-os-b/") {
		a = f.B
	}
	fields := secret["data"].(Object)
	clouds, err := base64.StdEncoding.DecodeString(text(fields, "clouds.yaml"))
	if err != nil {
		return nil, err
	}
	swapped := strings.NewReplacer("http://127.0.0.1:6000/v3", f.Identity, openstacklab.Recorded.User, a.User,
		openstacklab.Recorded.Password, a.Password, "project_name: "+openstacklab.Recorded.Project, "project_name: "+a.Project)
	fields["clouds.yaml"] = base64.StdEncoding.EncodeToString([]byte(swapped.Replace(string(clouds))))
	fields["cacert"] = base64.StdEncoding.EncodeToString(f.CA)
	return json.Marshal(secret)
}

// Now returns a text with this cloud's ids instead of the recorded ones.
func (f *Fleet) Now(text []byte) []byte {
	var pairs []string
	for recorded, made := range f.IDs {
		if recorded != OtherProject {
			pairs = append(pairs, recorded, made)
		}
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(text)))
}

// Recorded returns a text with the recorded ids instead of this cloud's: what a report says of
// this cloud becomes what it has to say of the recorded one.
func (f *Fleet) Recorded(text []byte) []byte {
	var pairs []string
	for recorded, made := range f.IDs {
		if recorded != OtherProject && made != f.defaults[f.A.Project] {
			pairs = append(pairs, made, recorded)
		}
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(text)))
}
