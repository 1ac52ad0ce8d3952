package backup

import (
	"archive/tar"
	"bytes"
	"fmt"
	"testing"
	"time"
)

// When a backup was written is said by its entries, unless its objects know better.
func TestWhenWritten(t *testing.T) {
	const now = "2026-11-21T12:00:00Z"
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	const (
		created = "2026-11-20T10:00:00Z"
		written = "2026-11-21T04:06:00Z"
		never   = "0001-01-01T00:00:00Z"
	)
	unix := func(text string) int64 { return at(text).Unix() }
	for name, c := range map[string]struct {
		entries  []int64
		objects  []string
		from, to string
		undated  bool
	}{
		"as Velero writes it":            {[]int64{unix(written), unix(written) + 11}, []string{created, created}, written, "2026-11-21T04:06:11Z", false},
		"packed again, long ago":         {[]int64{unix("2000-01-01T00:00:00Z")}, []string{created, "2026-11-20T09:00:00Z"}, created, created, true},
		"packed again, without a time":   {[]int64{0}, []string{"2026-11-20T09:00:00Z", created}, created, created, true},
		"packed again, before 1970":      {[]int64{-1}, []string{created}, created, created, true},
		"packed again, after year 9999":  {[]int64{1e12}, []string{created}, created, created, true},
		"one entry after year 9999":      {[]int64{unix(written), 253402300800}, []string{created, created}, written, written, false},
		"packed again, after the backup": {[]int64{unix("2026-11-21T11:00:00Z")}, []string{created}, "2026-11-21T11:00:00Z", "2026-11-21T11:00:00Z", false},
		"clocks that differ a little":    {[]int64{unix(written)}, []string{"2026-11-21T04:08:00Z"}, written, "2026-11-21T04:08:00Z", false},
		"clocks five minutes apart":      {[]int64{unix(written)}, []string{"2026-11-21T04:11:00Z"}, written, "2026-11-21T04:11:00Z", false},
		"an object younger than that":    {[]int64{unix(written)}, []string{"2026-11-21T04:11:01Z"}, "2026-11-21T04:11:01Z", "2026-11-21T04:11:01Z", true},
		"in another time zone":           {[]int64{0}, []string{"2026-11-20T11:00:00+01:00"}, created, created, true},
		"an object of the future":        {[]int64{unix(written), unix(written)}, []string{created, "2999-01-01T00:00:00Z"}, written, written, true},
		"both at once":                   {[]int64{0, 0}, []string{created, "9999-12-31T23:59:59Z"}, created, created, true},
		"nothing":                        {[]int64{0}, []string{""}, never, never, false},
		"only objects of the future":     {[]int64{0}, []string{"2999-01-01T00:00:00Z"}, never, never, true},
		"entries of the future":          {[]int64{unix("2999-01-01T00:00:00Z")}, []string{created}, "2999-01-01T00:00:00Z", "2999-01-01T00:00:00Z", false},
	} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for i, object := range c.objects {
			path, _ := machineFile(fmt.Sprintf("m%d", i))
			body := fmt.Sprintf(`{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine","metadata":{"namespace":"ns","name":"m%d","uid":"%d","creationTimestamp":"%s"},"spec":{"clusterName":"c","infrastructureRef":{"kind":"K","name":"n"}}}`, i, i, object)
			if object == "" {
				_, body = machineFile("m0")
			}
			h := &tar.Header{Typeflag: tar.TypeReg, Name: path, Size: int64(len(body)), Format: tar.FormatGNU}
			if when := c.entries[min(i, len(c.entries)-1)]; when != 0 {
				h.ModTime = time.Unix(when, 0)
			}
			if err := w.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		bounds := defaultLimits
		bounds.future = at(now).Add(24 * time.Hour)
		s, err := loadBytes(b.Bytes(), bounds)
		if err != nil || len(s.Machines) != len(c.objects) {
			t.Fatalf("%s: error %v", name, err)
		}
		i := s.Backups[0]
		if !i.WrittenFrom.Equal(at(c.from)) || !i.WrittenTo.Equal(at(c.to)) || i.Undated != c.undated {
			t.Errorf("%s: written %v to %v, undated %v", name, i.WrittenFrom, i.WrittenTo, i.Undated)
		}
	}
}
