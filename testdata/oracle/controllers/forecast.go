package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Forecast is what the program says of a world.
type Forecast struct {
	Safe     string            `json:"safe"`
	Reasons  map[string]string `json:"reasons,omitempty"`  // messages by code
	Outcomes map[string]string `json:"outcomes,omitempty"` // by machine; - where there is none
	Messages map[string]string `json:"-"`                  // of outcomes, by machine
	// Conditions are the codes of those of the answer.
	Conditions []string `json:"conditions,omitempty"`
}

type document struct {
	Summary struct {
		Answer struct {
			Safe    string
			Reasons []struct{ Code, Message string }

			Conditions []struct{ Code string }
		}
	}
	Clusters []struct {
		ControlPlane *group
		Workers      struct{ Groups []group }
	}
}

type group struct {
	Machines []struct {
		Name     string
		Forecast *struct{ Outcome, Message string }
	}
}

// forecast runs the program on backup.tar.gz and inventory.json of a folder.
func forecast(program, dir string) (*Forecast, error) {
	file := filepath.Join(dir, "report.json")
	out, err := exec.Command(program, "detect", "-q", "--backup", filepath.Join(dir, "backup.tar.gz"),
		"--inventory", filepath.Join(dir, "inventory.json"), "-o", file).CombinedOutput()
	var status *exec.ExitError
	if err != nil && (!errors.As(err, &status) || status.ExitCode() != 1 && status.ExitCode() != 3) {
		return nil, fmt.Errorf("detect: %w: %s", err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var r document
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, err
	}
	f := &Forecast{Safe: r.Summary.Answer.Safe, Reasons: map[string]string{}, Outcomes: map[string]string{}, Messages: map[string]string{}}
	for _, r := range r.Summary.Answer.Reasons {
		f.Reasons[r.Code] += r.Message + "\n"
	}
	for _, c := range r.Summary.Answer.Conditions {
		f.Conditions = append(f.Conditions, c.Code)
	}
	for _, c := range r.Clusters {
		groups := c.Workers.Groups
		if c.ControlPlane != nil {
			groups = append(groups, *c.ControlPlane)
		}
		for _, g := range groups {
			for _, m := range g.Machines {
				f.Outcomes[m.Name] = "-"
				if m.Forecast != nil {
					f.Outcomes[m.Name], f.Messages[m.Name] = m.Forecast.Outcome, m.Forecast.Message
				}
			}
		}
	}
	return f, nil
}

// says reports whether the answer has one of these reasons.
func (f *Forecast) says(codes ...string) bool {
	for _, c := range codes {
		if _, has := f.Reasons[c]; has {
			return true
		}
	}
	return false
}

// deletes reports whether the line of a machine without a VM says that its owner, which
// has too many, deletes it.
func (f *Forecast) deletes(machine string) bool {
	return strings.Contains(f.Messages[machine], "it deletes this one")
}

func codes(f *Forecast) []string { return slices.Sorted(maps.Keys(f.Reasons)) }
