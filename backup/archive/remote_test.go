package archive

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// An address is answered with the command that fetches it, and without what is secret in it.
func TestAddressesAreNoPaths(t *testing.T) {
	for name, want := range map[string]string{
		"gs://bucket/b.tar.gz":                    "gcloud storage cat",
		"ftp://store/b":                           "--backup -",
		"azure://me:hunter2@store/b?Sig=hunter2x": "azure://store/b?…",
		"s3a://a:hunter2@%zz":                     "s3a://…",
	} {
		_, err := FileSource(name)
		if known := new(InputError); !errors.As(err, &known) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// What is piped in is read as a file is, and once only.
func TestStreamIsReadAsItComes(t *testing.T) {
	data, err := os.ReadFile("../../testdata/fleet-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	s := StreamSource(t.Context(), "standard input", bytes.NewReader(data))
	got, err := Walk(t.Context(), s, DefaultBounds, Visitor{Visit: func(*Item) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	file, err := FileSource("../../testdata/fleet-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Walk(t.Context(), file, DefaultBounds, Visitor{Visit: func(*Item) error { return nil }})
	if err != nil || got.SHA256 != want.SHA256 || got.Items != want.Items {
		t.Errorf("%+v, want %+v: %v", got, want, err)
	}
	if _, err := s.Open(); err == nil || !strings.Contains(err.Error(), "once only") {
		t.Errorf("a second pass: %v", err)
	}
}

// A pipe that says nothing more does not keep an interrupted run.
func TestStreamEndsWithTheContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	quiet, _ := io.Pipe()
	time.AfterFunc(10*time.Millisecond, stop)
	if _, err := Walk(ctx, StreamSource(ctx, "standard input", quiet), DefaultBounds, Visitor{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
