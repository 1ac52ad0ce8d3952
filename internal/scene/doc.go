// Package scene is small worlds, written as text, on which it is tested what the steps of
// the walk find. A folder holds base.yaml, the objects of a management cluster to which
// nothing has happened, and a file of scenes for each row, named by its id.
//
// A file whose first line is "base DIR" has its scenes in the world of that folder.
//
// A scene is a heading, changes and expectations, a line each:
//
//	-- differs: the label is lost --
//	unset Secret tenant/prod-kubeconfig metadata.labels
//	=> core.K9 differs KubeadmControlPlane tenant/prod
//	=> answer withWork
//
// Changes of objects: "set KIND NS/NAME PATH JSON", "unset KIND NS/NAME PATH", "delete KIND
// NS/NAME", "add OBJECT" in YAML of one line, "copy KIND NS/NAME NEW" (a cluster-scoped object has no NS/), "again OLD NEW …": a second one of
// each object in which the first OLD stands, with every OLD replaced by the NEW behind it. A PATH is members
// joined by dots; a member that holds dots is in brackets: metadata.labels[a.b/c], an element
// of a list is its number. What exists (one instance for each machine, as the backup expects it,
// and one Node) follows the objects as they are before the line "then": changes behind it are of the
// backup alone. Without such a line all changes are.
//
// The line "by clusterctl" has the backup be a folder of 'clusterctl move'.
//
// Changes of what exists: "vm NAME gone", "vm NAME set PATH JSON", "vm NAME copy NEW", "vm NAME
// fact FACT VALUE"; "node NAME …" likewise, without fact; "place PROVIDER set PATH JSON", "place
// PROVIDER fact FACT VALUE", "place PROVIDER refused FACT WHY"; "nodes STATE WHY" of all Node lists.
// "place PROVIDER lacks KIND VALUE", "place PROVIDER finds KIND VALUE" and "place PROVIDER doubts
// KIND VALUE" say what became of a probe: it was not found, it was, or by several things; with the
// VALUE * lacks is about all of the kind. The NAME * means every one. Where the folder has a file base.exists, its lines come before those
// of each scene.
//
// Expectations: "=> ROW FOUND SUBJECT" (passes, none, several, differs, unread, unseen; the subject
// may be left out), "=> ROW not asked", "=> answer ANSWER", "=> byPlan ANSWER", "=> resolved CODE" (by the plan), "=> reason CODE", "=> no reason CODE",
// "=> says TEXT" (of a reason), "=> condition CODE", "=> no condition CODE", "=> outcome MACHINE OUTCOME" (and what its message has).
package scene
