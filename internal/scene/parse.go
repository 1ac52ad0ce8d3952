package scene

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Scene is one small world.
type Scene struct {
	File, Name   string
	Base         string   // the folder of its base, where that is another one
	Before, Then []string // changes of what was backed up and exists, and of one of both
	Expect       []string
}

// Read returns the scenes of a folder.
func Read(folder string) ([]Scene, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.scene"))
	if err != nil {
		return nil, err
	}
	var all []Scene
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		scenes, err := parse(filepath.Base(file), text)
		if err != nil {
			return nil, err
		}
		all = append(all, scenes...)
	}
	return all, nil
}

// readExists returns the lines of base.exists; none where a folder has no such file.
func readExists(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines, err
}

func parse(file string, text []byte) ([]Scene, error) {
	var all []Scene
	base := ""
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		heading, isHeading := strings.CutPrefix(line, "-- ")
		expected, isExpected := strings.CutPrefix(line, "=> ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case isHeading:
			all = append(all, Scene{File: file, Base: base, Name: strings.TrimSuffix(heading, " --")})
		case len(all) == 0 && strings.HasPrefix(line, "base "):
			base = strings.TrimPrefix(line, "base ")
		case len(all) == 0:
			return nil, fmt.Errorf("%s:%d: a line before the first heading", file, n)
		case isExpected:
			s := &all[len(all)-1]
			s.Expect = append(s.Expect, expected)
		case line == "then":
			s := &all[len(all)-1]
			s.Before, s.Then = s.Then, nil
		default:
			s := &all[len(all)-1]
			s.Then = append(s.Then, line)
		}
	}
	return all, lines.Err()
}
