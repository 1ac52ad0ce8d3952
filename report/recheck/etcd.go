package recheck

import (
	"fmt"
	"io"
	"strings"

	"drift-detector/internal/english"
)

// members reads what `etcdctl member list --write-out=json` prints, of which no part passes for
// the whole as one of its lines would (etcdctl/ctlv3/command/printer_json.go v3.6). All have to
// have started: one that has not has no name yet.
func members(r io.Reader) (names map[string]string, err error) {
	var list struct {
		Members []struct {
			ID   uint64 `json:"ID"`
			Name string `json:"name"`
		} `json:"members"`
	}
	if decode(r, &list) != nil || len(list.Members) == 0 {
		return nil, unseen("see what etcdctl member list says", "could not look: etcdctl printed no whole list of members")
	}
	names = map[string]string{}
	for _, m := range list.Members {
		id := fmt.Sprintf("%x", m.ID)
		if m.Name == "" {
			return nil, refuse("see why it has not started: another member less may cost the majority", "etcd member %s has not started", id)
		}
		names[id] = m.Name
	}
	return names, nil
}

// member sees that an id is that of a Node's member: kubeadm calls it like the Node.
func (a *asking) member() (string, error) {
	all, err := members(a.Objects)
	if err != nil {
		return "", err
	}
	name, known := all[strings.ToLower(a.Names[1])]
	if !known || name != a.Names[0] {
		return "", refuse("take the id beside the Node's name in etcdctl member list", "%s is not the etcd member of Node %s", a.Names[1], a.Names[0])
	}
	return fmt.Sprintf("%s is the etcd member of Node %s, of %d", a.Names[1], a.Names[0], len(all)), nil
}

func (a *asking) noMember() (string, error) {
	all, err := members(a.Objects)
	if err != nil {
		return "", err
	}
	for id, name := range all {
		if name == a.Names[0] {
			return "", refuse("remove its member first, with the line before", "Node %s is still an etcd member, %s", a.Names[0], id)
		}
	}
	return fmt.Sprintf("Node %s is no member of etcd, which has %s", a.Names[0], english.Count(len(all), "member")), nil
}
