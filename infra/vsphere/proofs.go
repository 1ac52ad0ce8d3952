package vsphere

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

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
func (objs *objects) proofs(expected []infra.ExpectedMachine) []infra.VisibilityProof {
	homes := map[homeOf]*proofsOf{}
	roots := map[string][]infra.Key{} // strong keys of the machines in datacenters' own folders
	hints := map[string]string{}
	var proofs []infra.VisibilityProof
	for i := range objs.members {
		m := &objs.members[i]
		var own []infra.Key
		if k := expected[i].Strong; !k.IsZero() {
			own = []infra.Key{k}
		}
		at := homeOf{m.cluster, m.target}
		if m.unplaced != "" {
			if hints[m.unplaced] == "" {
				hints[m.unplaced] = m.unplaced + ", so nothing says in which vCenter and folder its VM is: make the backup with --include-cluster-resources=true and without filters, or look for the VM"
			}
			proofs = append(proofs, infra.VisibilityProof{Cluster: at.cluster, Target: at.target, Any: own, Hint: hints[m.unplaced]})
			continue
		}
		if homes[at] == nil {
			homes[at] = &proofsOf{m.at.Server, map[string]bool{}}
		}
		homes[at].folders[m.at.Folder] = true
		if m.at.Root {
			roots[m.at.Folder] = append(roots[m.at.Folder], own...)
		}
	}
	for at, h := range homes {
		proofs = append(proofs, h.proofs(at, roots)...)
	}
	slices.SortStableFunc(proofs, func(a, b infra.VisibilityProof) int {
		return cmp.Or(capi.CompareClusters(a.Cluster, b.Cluster), cmp.Compare(a.Target, b.Target))
	})
	return proofs
}

// homeOf is where a cluster's machines are looked for.
type homeOf struct {
	cluster backup.ClusterID
	target  string
}

// proofsOf is what proves one home.
type proofsOf struct {
	server  string
	folders map[string]bool // where machines are to be
}

func (p *proofsOf) proofs(at homeOf, roots map[string][]infra.Key) []infra.VisibilityProof {
	list := []infra.VisibilityProof{{
		Cluster: at.cluster, Target: at.target, Any: []infra.Key{knownKey(p.server)}, Nodes: true, Copied: true,
		Hint: fmt.Sprintf("not one VM of the backup was seen in vCenter %s: check that this is the vCenter that the backup means", p.server),
	}}
	for _, f := range slices.Sorted(maps.Keys(p.folders)) {
		name := strings.TrimPrefix(f, p.server)
		if known := roots[f]; len(known) > 0 {
			list = append(list, infra.VisibilityProof{
				Cluster: at.cluster, Target: at.target, Folder: f, Any: known,
				Hint: fmt.Sprintf("not one of the backup's VMs that are to be in folder %s of vCenter %s was seen: check that this is the vCenter that the backup means and that the account may read the VMs of that datacenter", name, p.server),
			})
		}
		list = append(list, infra.VisibilityProof{
			Cluster: at.cluster, Target: at.target, Folder: f, All: []infra.Key{inhabitedKey(f)},
			Hint: fmt.Sprintf("not one VM was seen in folder %s of vCenter %s: give the account read access to it with propagation to children, or check that this is the vCenter that the backup means; if an administrator knows that the folder is empty or gone, say so with --empty-folder %s", name, p.server, name),
		}, infra.VisibilityProof{
			Cluster: at.cluster, Target: at.target, Folder: f, All: []infra.Key{readKey(f)},
			Hint: fmt.Sprintf("the metadata (config.extraConfig) of VMs in folder %s of vCenter %s was not read, and one of them may be a machine under another id: give the account read access to it, or list again if a saved inventory is of an older version", name, p.server),
		})
	}
	return list
}
