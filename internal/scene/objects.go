package scene

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/backup/backuptest"
)

// objects are those of a management cluster, in order.
type objects []map[string]any

// readObjects reads a YAML file of several objects.
func readObjects(file string) (objects, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all objects
	for part := range strings.SplitSeq(string(text), "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(part), &o); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if o != nil {
			all = append(all, o)
		}
	}
	return all, nil
}

// clone returns a deep copy.
func clone[T any](of T) T {
	text, err := json.Marshal(of)
	if err != nil {
		panic(err)
	}
	var out T
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}

func meta(o map[string]any) map[string]any { return backuptest.Inside(o, "metadata") }

func nameOf(o map[string]any) string {
	m := meta(o)
	if namespace, ok := m["namespace"].(string); ok && namespace != "" {
		return namespace + "/" + m["name"].(string)
	}
	return m["name"].(string)
}

func (all objects) index(kind, name string) int {
	for i, o := range all {
		if o["kind"] == kind && nameOf(o) == name {
			return i
		}
	}
	return -1
}

// change carries out one line about an object, and reports whether it was one.
func (all *objects) change(line string) (bool, error) {
	words := strings.Fields(line)
	if text, adds := strings.CutPrefix(line, "add "); adds {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			return true, fmt.Errorf("%q: %w", line, err)
		}
		*all = append(*all, o)
		return true, nil
	}
	if words[0] == "again" {
		return true, all.again(words[1:])
	}
	verbs := map[string]int{"set": 5, "unset": 4, "delete": 3, "copy": 4}
	least, known := verbs[words[0]]
	if !known {
		return false, nil
	}
	if len(words) < least {
		return true, fmt.Errorf("%q has too few words", line)
	}
	i := all.index(words[1], words[2])
	if i < 0 {
		return true, fmt.Errorf("%q: there is no such object", line)
	}
	switch words[0] {
	case "delete":
		*all = append((*all)[:i:i], (*all)[i+1:]...)
		return true, nil
	case "copy":
		o := clone((*all)[i])
		meta(o)["name"] = words[3]
		delete(meta(o), "uid")
		*all = append(*all, o)
		return true, nil
	case "unset":
		return true, set((*all)[i], words[3], nil)
	}
	value, err := valueOf(line, words[3])
	if err != nil {
		return true, err
	}
	return true, set((*all)[i], words[3], value)
}

// again adds a second one of every object in which the first word stands, with the words
// replaced, each by the one behind it.
func (all *objects) again(pairs []string) error {
	if len(pairs) < 2 || len(pairs)%2 != 0 {
		return fmt.Errorf("again: %v are no pairs", pairs)
	}
	for _, o := range clone(*all) {
		text, err := json.Marshal(o)
		if err != nil {
			return err
		}
		if !strings.Contains(string(text), pairs[0]) {
			continue
		}
		var second map[string]any
		if err := json.Unmarshal([]byte(strings.NewReplacer(pairs...).Replace(string(text))), &second); err != nil {
			return err
		}
		*all = append(*all, second)
	}
	return nil
}

// valueOf returns the JSON behind a path of a line.
func valueOf(line, path string) (any, error) {
	_, text, _ := strings.Cut(line, path+" ")
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("%q: %w", line, err)
	}
	return value, nil
}

// set puts a value at a path, or with nil takes away what is there.
func set(root any, path string, value any) error {
	members := membersOf(path)
	at := root
	for i, member := range members {
		last := i == len(members)-1
		switch in := at.(type) {
		case map[string]any:
			switch {
			case last && value == nil:
				delete(in, member)
			case last:
				in[member] = value
			default:
				if in[member] == nil {
					in[member] = map[string]any{}
				}
				at = in[member]
			}
		case []any:
			n, err := strconv.Atoi(member)
			if err != nil || n < 0 || n >= len(in) {
				return fmt.Errorf("%s: no element %s", path, member)
			}
			if last {
				in[n] = value
			} else {
				at = in[n]
			}
		default:
			return fmt.Errorf("%s: %s is in no object and no list", path, member)
		}
	}
	return nil
}

// membersOf takes a path apart.
func membersOf(path string) []string {
	var out []string
	for path != "" {
		if rest, bracketed := strings.CutPrefix(path, "["); bracketed {
			member, more, _ := strings.Cut(rest, "]")
			out, path = append(out, member), strings.TrimPrefix(more, ".")
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			return append(out, path)
		}
		out, path = append(out, path[:end]), strings.TrimPrefix(path[end:], ".")
	}
	return out
}

// tarball returns the backup of the objects.
func (all objects) tarball() backup.Source {
	t := backuptest.New()
	for _, o := range clone(all) {
		t.Add(resource(o), o)
	}
	return backuptest.Source("scene-data.tar.gz", t.Bytes())
}

// resource returns the resource of an object with its group.
func resource(o map[string]any) string {
	kind, _ := o["kind"].(string)
	version, _ := o["apiVersion"].(string)
	group, _, grouped := strings.Cut(version, "/")
	if !grouped {
		group = ""
	}
	return archive.ResourceOf(kind, group)
}
