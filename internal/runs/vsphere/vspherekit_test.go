package vsphere_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"drift-detector/report"
)

// This file has what tests change the lab with, apart from world and lab.

// after returns a moment since the lab's backup was written, on 21 November 2026 at 04:06:32.
func after(d time.Duration) time.Time {
	return time.Date(2026, 11, 21, 4, 6, 32, 0, time.UTC).Add(d)
}

// metadata returns what CAPV writes for a host name.
func metadata(host string) string {
	return "instance-id: \"" + host + "\"\nlocal-hostname: \"" + host + "\"\n"
}

// vsphereOnly leaves out what a report says of AWS.
func vsphereOnly(all map[string]report.Machine) []string {
	var names []string
	for name := range all {
		if !strings.HasPrefix(name, "aws-prod/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// zippedBase64 packs a text as join tokens are.
func zippedBase64(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // into memory
	_ = w.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}
