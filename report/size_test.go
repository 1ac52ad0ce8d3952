package report

import "testing"

func TestSize(t *testing.T) {
	for _, c := range []struct {
		size       Size
		text, more string
	}{
		{Size{4, 16384, 80, ""}, "4 vCPU, 16 GiB, 80 GiB of disk", " of 4 vCPU 16 GiB"},
		{Size{2, 0, 0, "m5.large"}, "m5.large, 2 vCPU", " of m5.large"},
		{Size{1, 1536, 0, ""}, "1 vCPU, 1.5 GiB", " of 1 vCPU 1.5 GiB"},
		{Size{}, "", ""},
	} {
		if got, more := c.size.String(), c.size.brief(); got != c.text || more != c.more {
			t.Errorf("%q %q, want %q %q", got, more, c.text, c.more)
		}
	}
}
