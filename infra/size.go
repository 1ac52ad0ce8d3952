package infra

import "drift-detector/report"

// Size is how large an instance is.
type Size = report.Size

// maxSize is beyond what any machine has, of whatever: a server that says more says nothing.
const maxSize = 1 << 30

// NewSize returns a size of what a server says.
func NewSize(vcpus, memoryMiB, diskGiB int64, kind string) Size {
	known := func(n int64) int {
		if n < 0 || n > maxSize {
			return 0
		}
		return int(n)
	}
	if len(kind) > 256 {
		kind = ""
	}
	return Size{VCPUs: known(vcpus), MemoryMiB: known(memoryMiB), DiskGiB: known(diskGiB), Type: kind}
}
