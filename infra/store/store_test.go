package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/store"
	"drift-detector/infra/store/storetest"
)

const lab = "../../testdata/bucket/mgmt-cluster-1"

func options(s *storetest.Store) store.Options {
	return store.Options{Endpoint: s.URL, Keys: &infra.Credential{Username: storetest.KeyID, Password: backup.NewSensitive(storetest.Secret), Source: "the test"}}
}

func at(t *testing.T, address string, o store.Options) *store.Place {
	t.Helper()
	p, _, err := store.Open(t.Context(), address, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// content returns all that the one backup of a place holds.
func content(ctx context.Context, p *store.Place) ([]byte, *store.Stored, error) {
	s, err := p.Only(ctx)
	if err != nil {
		return nil, nil, err
	}
	r, err := p.Source(ctx, s).Open()
	if err != nil {
		return nil, s, err
	}
	defer r.Close()
	body, err := io.ReadAll(r)
	return body, s, err
}

func tarball(t *testing.T) []byte {
	t.Helper()
	body, err := os.ReadFile(lab + "/backups/mgmt-full/mgmt-full.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// inBucket returns a store that holds the lab's bucket as it is.
func inBucket(t *testing.T) *storetest.Store {
	t.Helper()
	s := storetest.Start(t, false)
	s.PutFolder(t, "velero", "mgmt-cluster-1/", lab)
	return s
}

// TestEveryPlace: each address of a backup reads the same bytes, with Velero's description
// where it can be had.
func TestEveryPlace(t *testing.T) {
	s := inBucket(t)
	s.Put("velero", "mgmt-cluster-1/kopia/big", []byte("not looked at"))
	want := tarball(t)
	for _, address := range []string{
		"s3://velero", "s3://velero/", "s3://velero/mgmt-cluster-1", "s3://velero/mgmt-cluster-1/backups/", "s3://velero/mgmt-cluster-1/backups/mgmt-full",
		"s3://velero/mgmt-cluster-1/backups/mgmt-full/mgmt-full.tar.gz",
		s.URL + "/velero/mgmt-cluster-1/backups/mgmt-full/mgmt-full.tar.gz?X-Amz-Credential=" + storetest.KeyID + "&X-Amz-Signature=c4n4ry",
	} {
		body, found, err := content(t.Context(), at(t, address, options(s)))
		if err != nil || !bytes.Equal(body, want) {
			t.Errorf("%s: %d bytes, %v", address, len(body), err)
			continue
		}
		if signed := strings.HasPrefix(address, "http"); (found.Description == nil) != signed || found.Name != "mgmt-full" || strings.Contains(found.Tarball, "c4n4ry") {
			t.Errorf("%s: %+v", address, found)
		}
	}
	for _, dir := range []string{lab, lab + "/backups", lab + "/backups/mgmt-full", "../../testdata/bucket"} {
		p, err := store.Folder(dir)
		if err != nil {
			t.Fatal(err)
		}
		body, found, err := content(t.Context(), p)
		if err != nil || !bytes.Equal(body, want) || found.Description == nil {
			t.Errorf("%s: %d bytes, %+v, %v", dir, len(body), found, err)
		}
	}
}

// TestNothingIsListedForOneBackup: a credential may be allowed to read objects only.
func TestNothingIsListedForOneBackup(t *testing.T) {
	s := inBucket(t)
	s.Spoil = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("list-type") == "" {
			return false
		}
		http.Error(w, "", http.StatusForbidden)
		return true
	}
	if body, _, err := content(t.Context(), at(t, "s3://velero/mgmt-cluster-1/backups/mgmt-full", options(s))); err != nil || !bytes.Equal(body, tarball(t)) {
		t.Error(err)
	}
	_, _, err := content(t.Context(), at(t, "s3://velero/mgmt-cluster-1", options(s)))
	if err == nil || !strings.Contains(err.Error(), "may not be listed") || !strings.Contains(err.Error(), "s3:ListBucket") {
		t.Error(err)
	}
}

// TestBrokenTransferIsResumed: what breaks off is read on from there; what breaks off
// again and again is an error, and so is what nobody can say to be the same.
func TestBrokenTransferIsResumed(t *testing.T) {
	s := inBucket(t)
	want := tarball(t)
	s.CutAfter = len(want)/7 + 1
	p := at(t, "s3://velero/mgmt-cluster-1", options(s))
	body, _, err := content(t.Context(), p)
	if err != nil || !bytes.Equal(body, want) {
		t.Fatalf("%d of %d bytes: %v", len(body), len(want), err)
	}
	if n := strings.Count(strings.Join(s.Calls(), "\n"), "mgmt-full.tar.gz"); n != 7 {
		t.Errorf("%d requests for it", n)
	}
	s.CutAfter = len(want) / 60
	if _, _, err := content(t.Context(), p); !errors.As(err, new(*backup.InputError)) || !strings.Contains(err.Error(), "broke off") {
		t.Errorf("after many breaks: %v", err)
	}
	s.CutAfter = len(want) / 2
	s.Spoil = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, ".tar.gz") {
			w.Header()["Etag"] = nil
			w.Header().Set("Content-Length", fmt.Sprint(len(want)))
			_, _ = w.Write(want[:10])
			panic(http.ErrAbortHandler)
		}
		return false
	}
	if _, _, err := content(t.Context(), p); err == nil {
		t.Error("an object without an ETag was read on")
	}
}

// TestReplacedObjectIsRefused: while it is read, between two passes, and between listing
// and reading.
func TestReplacedObjectIsRefused(t *testing.T) {
	const key = "mgmt-cluster-1/backups/mgmt-full/mgmt-full.tar.gz"
	want := tarball(t)
	other := append(bytes.Clone(want[:len(want)-1]), 'x')
	for name, replace := range map[string]func(*testing.T, *storetest.Store, *store.Place, *store.Stored) error{
		"while it is read": func(t *testing.T, s *storetest.Store, p *store.Place, f *store.Stored) error {
			s.CutAfter = len(want) / 2
			r, err := p.Source(t.Context(), f).Open()
			if err != nil {
				return err
			}
			defer r.Close()
			if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
				return err
			}
			s.Put("velero", key, other)
			_, err = io.Copy(io.Discard, r)
			return err
		},
		"between two passes": func(t *testing.T, s *storetest.Store, p *store.Place, f *store.Stored) error {
			source := p.Source(t.Context(), f)
			r, err := source.Open()
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, r)
			r.Close()
			s.Put("velero", key, other)
			if err == nil {
				_, err = source.Open()
			}
			return err
		},
		"after it was listed": func(t *testing.T, s *storetest.Store, p *store.Place, f *store.Stored) error {
			s.Put("velero", key, other)
			_, err := p.Source(t.Context(), f).Open()
			return err
		},
		"by a store that ignores If-Match": func(t *testing.T, s *storetest.Store, p *store.Place, f *store.Stored) error {
			s.Put("velero", key, other)
			s.IgnoresMatch = true
			_, err := p.Source(t.Context(), f).Open()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := inBucket(t)
			p := at(t, "s3://velero", options(s))
			found, err := p.Only(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := replace(t, s, p, found); !errors.As(err, new(*backup.InputError)) || !strings.Contains(err.Error(), "has been replaced") {
				t.Error(err)
			}
		})
	}
}

// TestRefusals: what a store may answer, in words with a next step and without its text.
func TestRefusals(t *testing.T) {
	answer := func(status int, code string, headers ...string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>c4n4ry</Message><Region>eu-x</Region></Error>", code)
			return true
		}
	}
	sends := func(body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			_, _ = io.WriteString(w, body)
			return true
		}
	}
	for says, spoil := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"there is no such bucket": answer(404, "NoSuchBucket"),
		"may not be listed":       answer(403, "AccessDenied"),
		"a bucket whose readers pay (requester pays) is not read": answer(403, "AccessDenied", "X-Amz-Request-Charged", "requester"),
		"refuses the key": answer(403, "SignatureDoesNotMatch"),
		"has expired":     answer(400, "ExpiredToken"),
		"from the store's (403 RequestTimeTooSkewed)": answer(403, "RequestTimeTooSkewed", "Date", time.Now().Add(time.Hour+time.Second).UTC().Format(http.TimeFormat)),
		"has no time for it (503 SlowDown)":           answer(503, "SlowDown"),
		"sends elsewhere":                             answer(307, "TemporaryRedirect", "Location", "https://attacker.example/"),
		"(500 InternalError)":                         answer(500, "InternalError"),
		"delete marker":                               answer(404, "NoSuchKey", "X-Amz-Delete-Marker", "true"),
		"archived":                                    answer(403, "InvalidObjectState"),
		"SSE-C":                                       answer(400, "InvalidRequest"),
		"answer is empty":                             sends(""),
		"answer breaks off":                           sends("<ListBucketResult><IsTruncated>fal"),
		"listing is none of S3":                       sends("<html>login</html>"),
		"store's listing is none of S3":               sends(`{"kind":"Status"}`),
		"the store's listing is none of S3":           sends("<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>1</NextContinuationToken></ListBucketResult>"),
	} {
		s := inBucket(t)
		s.Spoil = spoil
		_, err := at(t, "s3://velero", options(s)).Backups(t.Context())
		var input *backup.InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), says) || input.Next == "" || strings.Contains(err.Error(), "c4n4ry") {
			t.Errorf("%q: %v", says, err)
		}
		if n := len(s.Calls()); n > 6 { // five attempts, and the first is asked in two regions
			t.Errorf("%q: %d calls", says, n)
		}
	}
}

// TestRegionIsFound: a bucket of another region is asked there, once.
func TestRegionIsFound(t *testing.T) {
	s := inBucket(t)
	s.Region = "eu-central-1"
	p := at(t, "s3://velero", options(s))
	all, err := p.Backups(t.Context())
	if err != nil || len(all) != 1 || all[0].Description == nil {
		t.Fatal(all, err)
	}
	if calls := s.Calls(); len(calls) != 5 { // two for the first question, the folders, the keys, the description
		t.Errorf("%q", calls)
	}
}

// TestKeysAreEscaped: names with special characters are asked for as S3 signs them.
func TestKeysAreEscaped(t *testing.T) {
	s := storetest.Start(t, false)
	name := "a b+c%2F~$&=:@ü'\x1b[31m"
	s.Put("velero", "p q/backups/"+name+"/"+name+".tar.gz", []byte("x"))
	s.Put("velero", "p q/backups/"+name+"/velero-backup.json", []byte(`{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"other"}}`))
	p := at(t, "s3://velero/p%20q", options(s))
	all, err := p.Backups(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != name {
		t.Fatal(all, err)
	}
	if err := all[0].Problem; err == nil || !strings.Contains(err.Error(), "another backup") {
		t.Errorf("a description of another backup: %v", err)
	}
	r, err := p.Source(t.Context(), all[0]).Open()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
}

// TestListingIsCheap: 100,000 keys in one call for each 1,000, and one for each
// description that is there.
func TestListingIsCheap(t *testing.T) {
	s := storetest.Start(t, false)
	for i := range 10_000 {
		name := fmt.Sprintf("nightly-%05d", i)
		for _, file := range []string{name + ".tar.gz", name + "-logs.gz", name + "-results.gz", name + "-resource-list.json.gz", name + "-volumeinfo.json.gz"} {
			s.Put("velero", "backups/"+name+"/"+file, nil)
			s.Put("velero", "kopia/"+name+"/"+file, nil)
		}
	}
	all, err := at(t, "s3://velero", options(s)).Backups(t.Context())
	if err != nil || len(all) != 10_000 {
		t.Fatal(len(all), err)
	}
	if n := len(s.Calls()); n > 51 {
		t.Errorf("%d calls for 50,000 keys below backups/", n)
	}
}

func TestBadAddresses(t *testing.T) {
	o := store.Options{Ambient: true}
	for address, says := range map[string]string{
		"s3://":                                     "s3://: names no bucket: give s3://BUCKET/PREFIX/backups/NAME",
		"S3:///velero":                              "s3:///velero: names no bucket",
		"https:///a?c4n4ry=1":                       "https:///a?…: names no host: give the whole URL of the tarball, such as https://HOST/",
		"s3://u:c4n4ry@velero":                      "holds a user or a password",
		"s3://velero/a?c4n4ry=1":                    "has a ? or # in it",
		"https://u:c4n4ry@h/a":                      "holds a user or a password",
		"s3://ve lero/c4n4ry%zz":                    "it is no URL",
		"s3://-velero":                              "is not the name of a bucket",
		"s3://" + strings.Repeat("a", 256):          "is not the name of a bucket",
		"s3://arn:aws:s3:eu-west-1:1:accesspoint/a": "it has an ARN, and access points are not read",
	} {
		_, _, err := store.Open(t.Context(), address, o)
		if !errors.As(err, new(*backup.InputError)) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "c4n4ry") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, _, err := store.Open(t.Context(), "s3://velero", store.Options{}); err == nil || !strings.Contains(err.Error(), "--s3-profile") {
		t.Errorf("without a credential: %v", err)
	}
	if _, _, err := store.Open(t.Context(), "s3://velero", store.Options{Ambient: true, Endpoint: "http://h", CustomerKey: backup.NewSensitive(strings.Repeat("k", 32))}); err == nil {
		t.Error("a key would be sent without encryption")
	}
}
