package vsphere

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

func inhabitedKey(folder string) infra.Key { return infra.Key{Kind: KeyInhabited, Value: folder} }

func readKey(folder string) infra.Key { return infra.Key{Kind: KeyRead, Value: folder} }

// KnownKey returns the key of a vCenter that has a VM with a BIOS UUID of the backup.
func KnownKey(server string) infra.Key { return infra.Key{Kind: keyKnown, Value: server} }

// proofs returns what a listing must show before absence may be concluded from it,
// per cluster and target:
//
//   - one VM of the backup, or one that a Node of the cluster runs on: this is the
//     vCenter that the backup means. Names never show that, as a stand-by site has
//     them, too;
//   - VMs in the folder where the machine in question is to be: the account sees
//     what is in it. Each folder is a part of the target: what an account may not
//     see of one says nothing about the machines of another;
//   - the metadata of the VMs there that no machine owns: one of them may have the host
//     name of a machine, and be that machine under another id;
//   - where that is a datacenter's own VM folder, which every vCenter has, one of
//     the machines of any cluster that are to be in it, if the backup records
//     an id of any: the account sees what the controllers make there;
//   - each machine whose place is not known: it can be found, and never be missed.
func (objs *objects) proofs() []infra.VisibilityProof {
	of := objs.snapshot.Subject()
	roots := map[string][]infra.Key{} // strong keys of the machines in datacenters' own folders
	hints := map[string]string{}
	var proofs []infra.VisibilityProof
	for i := range objs.members {
		m := &objs.members[i]
		var own []infra.Key
		if (m.unplaced != "" || m.at.Root) && !m.strong.IsZero() {
			own = []infra.Key{m.strong}
		}
		switch {
		case m.unplaced != "":
			if hints[m.unplaced] == "" {
				hints[m.unplaced] = m.unplaced + ", so nothing says in which vCenter and folder its VM is: " + of.Or("make the backup with --include-cluster-resources=true and without filters, or look for the VM", "look for the VM")
			}
			proofs = append(proofs, infra.VisibilityProof{Cluster: m.cluster, Target: m.target, Any: own, Hint: hints[m.unplaced]})
		case m.at.Root:
			roots[m.at.Folder] = append(roots[m.at.Folder], own...)
		}
	}
	placed := slices.DeleteFunc(slices.Clone(objs.places), func(p *place) bool { return p.unplaced != "" })
	slices.SortFunc(placed, func(a, b *place) int {
		return cmp.Or(capi.CompareClusters(a.cluster, b.cluster), cmp.Compare(a.target, b.target), cmp.Compare(a.at.Folder, b.at.Folder))
	})
	proofs = slices.Grow(proofs, 3*len(placed)+len(roots)) // as most have
	var server, folder struct {                            // those before, for whoever has its home there, too
		at     string
		proofs []infra.VisibilityProof
	}
	for i, p := range placed {
		add := func(all []infra.VisibilityProof) {
			for _, one := range all {
				one.Cluster, one.Target = p.cluster, p.target
				proofs = append(proofs, one)
			}
		}
		home := i > 0 && placed[i-1].cluster == p.cluster && placed[i-1].target == p.target
		if !home {
			if server.at != p.at.Server || server.proofs == nil {
				server.at, server.proofs = p.at.Server, serverProofs(of, p.at.Server)
			}
			add(server.proofs)
		}
		if !home || placed[i-1].at.Folder != p.at.Folder {
			if folder.at != p.at.Folder || folder.proofs == nil {
				folder.at, folder.proofs = p.at.Folder, folderProofs(of, p.at, roots[p.at.Folder], folder.proofs[:0])
			}
			add(folder.proofs)
		}
	}
	sorting.StableBy(proofs, func(a, b infra.VisibilityProof) int {
		return cmp.Or(capi.CompareClusters(a.Cluster, b.Cluster), cmp.Compare(a.Target, b.Target))
	})
	return proofs
}

// serverProofs prove that a server is the one that what was read means.
func serverProofs(of code.Subject, server string) []infra.VisibilityProof {
	return []infra.VisibilityProof{{
		Any: []infra.Key{KnownKey(server)}, Nodes: true, Copied: true,
		Hint: fmt.Sprintf("not one VM of %s was seen in vCenter %s: check that this is the vCenter that %[1]s means", of.The(), server),
	}}
}

// folderProofs appends what proves that what is in a folder is seen. known are the ids of machines that are
// to be there, if it is a datacenter's own.
func folderProofs(of code.Subject, at location, known []infra.Key, list []infra.VisibilityProof) []infra.VisibilityProof {
	f, name := at.Folder, cmp.Or(strings.TrimPrefix(at.Folder, at.Server), "/")
	if len(known) > 0 {
		list = append(list, infra.VisibilityProof{
			Folder: f, Any: known,
			Hint: fmt.Sprintf("not one of %s's VMs that are to be in folder %s of vCenter %s was seen: check that this is the vCenter that %[1]s means and that the account may read the VMs of that datacenter", of.The(), name, at.Server),
		})
	}
	return append(list, infra.VisibilityProof{
		Folder: f, All: []infra.Key{inhabitedKey(f)},
		Hint: fmt.Sprintf("not one VM was seen in folder %s of vCenter %s, or only by way of resource pools and hosts: give the account read access to the folder with propagation to children, or check that this is the vCenter that %s means; if an administrator knows that the folder is empty or gone, say so with --empty-folder %s", name, at.Server, of.The(), name),
	}, infra.VisibilityProof{
		Folder: f, All: []infra.Key{readKey(f)},
		Hint: fmt.Sprintf("the metadata (config.extraConfig) of VMs in folder %s of vCenter %s was not read, and one of them may be a machine under another id: give the account read access to it, or list again if a saved inventory is of an older version", name, at.Server),
	})
}
