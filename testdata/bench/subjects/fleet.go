package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"drift-detector/infra"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// The tenant of the lab that fleets are copies of: 2 clusters, 17 machines, 16 VMs.
const (
	tenant         = "tenant-alpha"
	tenantMachines = 17
)

// template is text in which some pieces differ from copy to copy.
type template []piece

// piece is literal text, or what stands for it in each copy.
type piece struct {
	text string
	make func(to []byte, text string, copy int) []byte // nil: the text itself
}

// What differs: the namespace, uids and BIOS UUIDs, managed object ids; and where all
// names are to be distinct, those of the clusters, which all names begin with.
var (
	varyingSame     = regexp.MustCompile(tenant + `|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\bvm-[0-9]+\b`)
	varyingDistinct = regexp.MustCompile(`alpha-prod|alpha-dev|` + varyingSame.String())
)

// newTemplate cuts text into pieces. Ids in kept are the same in all copies.
func newTemplate(text []byte, varying *regexp.Regexp, kept string) template {
	var t template
	at := 0
	for _, m := range varying.FindAllIndex(text, -1) {
		found := string(text[m[0]:m[1]])
		p := piece{found, renamed}
		switch {
		case found == kept:
			continue
		case len(found) == 36:
			p.make = reidentified
		case strings.HasPrefix(found, "vm-"):
			p.make = renumbered
		}
		t = append(t, piece{text: string(text[at:m[0]])}, p)
		at = m[1]
	}
	return append(t, piece{text: string(text[at:])})
}

func (t template) append(to []byte, copy int) []byte {
	for _, p := range t {
		if p.make == nil {
			to = append(to, p.text...)
		} else {
			to = p.make(to, p.text, copy)
		}
	}
	return to
}

func renamed(to []byte, text string, copy int) []byte {
	return fmt.Appendf(to, "%s-%05d", text, copy)
}

func renumbered(to []byte, text string, copy int) []byte {
	n, _ := strconv.Atoi(strings.TrimPrefix(text, "vm-")) // the expression has digits only
	return fmt.Appendf(to, "vm-%d", n+1000*copy)
}

// reidentified returns another UUID for each copy, and always the same one.
func reidentified(to []byte, text string, copy int) []byte {
	digits := strings.ReplaceAll(text, "-", "")
	var id [16]byte
	_, _ = hex.Decode(id[:], []byte(digits))
	for half := 0; half < 16; half += 8 {
		n := binary.BigEndian.Uint64(id[half:]) + uint64(copy)*0x9e3779b97f4a7c15 // splitmix64
		n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
		n = (n ^ n>>27) * 0x94d049bb133111eb
		binary.BigEndian.PutUint64(id[half:], n^n>>31)
	}
	return fmt.Appendf(to, "%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// generate writes a backup of about n machines and its inventory: the lab's tenant over and
// over, and of the rest what belongs to no tenant.
func generate(root, folder, number, naming string) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	varying := varyingSame
	if naming == "distinct" {
		varying = varyingDistinct
	}
	copies := (n + tenantMachines - 1) / tenantMachines
	backup, inv, err := listed(root, folder)
	if err != nil {
		return err
	}
	if err := writeInventory(filepath.Join(folder, "inventory.json"), inv, varying, copies); err != nil {
		return err
	}
	return writeBackup(filepath.Join(folder, "data.tar.gz"), backup, varying, copies)
}

// listed returns the lab's backup, whose objects pin the certificate of the vCenter that is listed,
// and what the program lists.
func listed(root, folder string) (backup string, inv infra.Inventory, err error) {
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: filepath.Join(root, "testdata/vcenter-after.tar.gz")})
	if err != nil {
		return "", inv, err
	}
	defer v.Close()
	if backup, err = v.WritePinned(filepath.Join(root, "testdata/fleet-data.tar.gz"), folder); err != nil {
		return "", inv, err
	}
	api, err := lab.StartAPIServers(backup, filepath.Join(root, "testdata/nodes"))
	if err != nil {
		return "", inv, err
	}
	defer api.Close()
	credentials, err := v.WriteCredentials(folder)
	if err != nil {
		return "", inv, err
	}
	args := []string{"inventory", "--backup", backup, "-o", "-", "--quiet", "--namespace", tenant, "--credentials", credentials}
	for _, r := range append(api.Reroutes(), v.Reroute()) {
		args = append(args, "--endpoint", r)
	}
	cmd := exec.Command(filepath.Join(root, "bin/drift-detector"), args...)
	cmd.Stderr = io.Discard // it warns of the API server that is gone, which the inventory says too
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &failed) && failed.ExitCode() == 3) {
		return "", inv, fmt.Errorf("listing the lab: %w", err)
	}
	if inv, err = infra.ReadInventory(bytes.NewReader(out)); err != nil {
		return "", inv, err
	}
	for _, l := range inv.Listings {
		if l.NodeState == "" && l.State != code.ScopeComplete {
			return "", inv, fmt.Errorf("listing the lab: %s (a machine that is too busy? run it again)", l.Fault.Message)
		}
	}
	return backup, inv, nil
}

// writeBackup multiplies the tenant, one kind of objects at a time, as Velero writes them.
func writeBackup(file, from string, varying *regexp.Regexp, copies int) error {
	kinds, order, err := readKinds(from, varying)
	if err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	buf := bufio.NewWriterSize(f, 1<<20)
	zw := gzip.NewWriter(buf)
	tw := tar.NewWriter(zw)
	var body, name []byte
	for _, kind := range order {
		for _, e := range kinds[kind].fixed {
			if err := writeEntry(tw, e.header, string(e.name.append(nil, 0)), e.body.append(body[:0], 0)); err != nil {
				return err
			}
		}
		for i := range copies {
			for _, e := range kinds[kind].tenants {
				name, body = e.name.append(name[:0], i), e.body.append(body[:0], i)
				if err := writeEntry(tw, e.header, string(name), body); err != nil {
					return err
				}
			}
		}
	}
	return errors.Join(tw.Close(), zw.Close(), buf.Flush())
}

// entry is one entry of a tarball. kind are those of one resource.
type entry struct {
	header     tar.Header
	name, body template
}

type kind struct{ fixed, tenants []entry }

func readKinds(from string, varying *regexp.Regexp) (kinds map[string]*kind, order []string, err error) {
	f, err := os.Open(from)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		return nil, nil, err
	}
	kinds = map[string]*kind{}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return kinds, order, nil
		}
		if err != nil {
			return nil, nil, err
		}
		body, err := io.ReadAll(tr)
		if err != nil {
			return nil, nil, err
		}
		resource := strings.Join(strings.SplitN(h.Name, "/", 3)[:2], "/")
		if kinds[resource] == nil {
			kinds[resource] = &kind{}
			order = append(order, resource)
		}
		k := kinds[resource]
		switch {
		case strings.Contains(h.Name, tenant):
			k.tenants = append(k.tenants, entry{*h, newTemplate([]byte(h.Name), varying, ""), newTemplate(body, varying, "")})
		case !strings.Contains(h.Name, "/tenant-"):
			k.fixed = append(k.fixed, entry{*h, template{{text: h.Name}}, template{{text: string(body)}}})
		}
	}
}

func writeEntry(tw *tar.Writer, h tar.Header, name string, body []byte) error {
	h.Name, h.Size = name, int64(len(body))
	if err := tw.WriteHeader(&h); err != nil {
		return err
	}
	_, err := tw.Write(body)
	return err
}

// writeInventory multiplies what was listed of the tenant.
func writeInventory(file string, inv infra.Inventory, varying *regexp.Regexp, copies int) error {
	var all infra.Inventory
	all.Version = inv.Version
	for _, l := range inv.Listings {
		if l.NodeState == "" {
			l.Instances = slices.DeleteFunc(l.Instances, func(i infra.Instance) bool { return !strings.Contains(i.Path, tenant) })
		}
		var one bytes.Buffer
		if err := infra.WriteInventory(&one, infra.Inventory{Version: inv.Version, Listings: []infra.Listing{l}}); err != nil {
			return err
		}
		t := newTemplate(one.Bytes(), varying, l.Identity)
		for i := range copies {
			c, err := infra.ReadInventory(bytes.NewReader(t.append(nil, i)))
			if err != nil {
				return err
			}
			if last := len(all.Listings) - 1; l.NodeState == "" && i > 0 {
				into := &all.Listings[last]
				into.IDs = append(into.IDs, c.Listings[0].IDs...)
				into.Clusters, into.Instances = append(into.Clusters, c.Listings[0].Clusters...), append(into.Instances, c.Listings[0].Instances...)
				into.ProbesFound, into.Asked = append(into.ProbesFound, c.Listings[0].ProbesFound...), append(into.Asked, c.Listings[0].Asked...)
				continue
			}
			all.Listings = append(all.Listings, c.Listings...)
		}
	}
	for i := range all.Listings {
		l := &all.Listings[i]
		l.ListedAt = l.ListedAt.Truncate(time.Second)
		l.IDs, l.ProbesFound, l.Asked = distinct(l.IDs), distinct(l.ProbesFound), distinct(l.Asked)
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(infra.WriteInventory(f, all), f.Close())
}

func distinct[T comparable](all []T) []T {
	seen := map[T]bool{}
	return slices.DeleteFunc(all, func(v T) bool {
		had := seen[v]
		seen[v] = true
		return had
	})
}
