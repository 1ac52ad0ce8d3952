package cli

import (
	"os"
	"syscall"
)

// showsColor switches on that a console takes the sequences that make colours, and reports whether it
// does; before Windows 10 it prints them (Microsoft, "Console Virtual Terminal Sequences").
func showsColor(console *os.File) bool {
	const virtualTerminal = 4 // ENABLE_VIRTUAL_TERMINAL_PROCESSING
	handle, mode := syscall.Handle(console.Fd()), uint32(0)
	if syscall.GetConsoleMode(handle, &mode) != nil {
		return false
	}
	set, _, _ := syscall.NewLazyDLL("kernel32.dll").NewProc("SetConsoleMode").Call(uintptr(handle), uintptr(mode|virtualTerminal))
	return set != 0
}
