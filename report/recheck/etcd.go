package recheck

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"

	"drift-detector/internal/english"
)

var memberID = regexp.MustCompile(`^[0-9a-f]{1,16}$`)

// members reads what `etcdctl member list` prints, a line each of id, status, name, addresses
// and whether it is a learner (etcdctl/ctlv3/command/util.go v3.5). All have to have started.
func members(r io.Reader) (names map[string]string, err error) {
	names = map[string]string{}
	lines := bufio.NewScanner(io.LimitReader(r, 1<<20))
	for lines.Scan() {
		f := strings.Split(strings.TrimSpace(lines.Text()), ", ")
		switch {
		case len(f) < 5 || !memberID.MatchString(f[0]):
			return nil, unseen("see what etcdctl member list says", "could not look: what etcdctl printed is no list of members")
		case f[1] != "started":
			return nil, refuse("see why it has not started: another member less may cost the majority", "etcd member %s has not started", f[0])
		}
		names[f[0]] = f[2]
	}
	if lines.Err() != nil || len(names) == 0 {
		return nil, unseen("see what etcdctl member list says", "could not look: etcdctl printed no list of members")
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
