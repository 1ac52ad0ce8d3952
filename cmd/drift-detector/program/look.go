package program

import (
	"drift-detector/internal/cli"
	"drift-detector/report/screen"
	"drift-detector/report/text"
)

// textOptions says how text is printed on stdout.
func textOptions(s *cli.Streams) text.Options {
	look := s.Look()
	return text.Options{Width: look.Width, All: s.Debug, Color: look.Color}
}

// screenOptions returns those of the screen of a run that wrote these files.
func screenOptions(s *cli.Streams, written []cli.Target) screen.Options {
	look := s.Look()
	o := screen.Options{Color: look.Color, Width: look.Width, Height: look.Height}
	o.Program, _ = cli.Pasteable(s.Program)
	for _, w := range written {
		if w.Format == "json" && w.Path != "-" {
			o.Report, _ = cli.Pasteable(w.Path)
			break
		}
	}
	return o
}
