package report

import (
	"fmt"
	"strings"

	"drift-detector/internal/english"
)

// Size is how large an instance is, as far as its listing says that: zero and empty are not said.
type Size struct {
	VCPUs     int    `json:"vcpus,omitempty"`
	MemoryMiB int    `json:"memoryMiB,omitempty"`
	DiskGiB   int    `json:"diskGiB,omitempty"`
	Type      string `json:"type,omitempty"` // instance type, flavor
}

// brief returns what costs most of it, as a VM is of it; empty where it is not known.
func (s Size) brief() string {
	if s.Type == "" {
		s.DiskGiB = 0
	} else {
		s = Size{Type: s.Type}
	}
	if s == (Size{}) {
		return ""
	}
	return " of " + strings.ReplaceAll(s.String(), ",", "")
}

// String returns the size as people say it: "4 vCPU, 16 GiB, 80 GiB of disk, m5.xlarge".
func (s Size) String() string {
	memory, vcpus, disk := "", "", ""
	switch {
	case s.MemoryMiB == 0:
	case s.MemoryMiB%1024 == 0:
		memory = fmt.Sprintf("%d GiB", s.MemoryMiB/1024)
	default:
		memory = fmt.Sprintf("%.1f GiB", float64(s.MemoryMiB)/1024)
	}
	if s.VCPUs > 0 {
		vcpus = fmt.Sprintf("%d vCPU", s.VCPUs)
	}
	if s.DiskGiB > 0 {
		disk = fmt.Sprintf("%d GiB of disk", s.DiskGiB)
	}
	return english.Join(", ", s.Type, vcpus, memory, disk)
}
