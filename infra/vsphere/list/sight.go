package list

import (
	"context"
	"slices"

	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/types"
)

// Roles without System.Read: NoAccess, Anonymous and View (govmomi object/authorization_manager.go
// v0.56.0 and simulator/esx/authorization_manager.go). Every other role has it.
var blindRoles = []int32{-5, -4, -3}

// maxEmpty bounds how many folders are asked for their permissions.
const maxEmpty = 200

// mayRead reports whether effective roles let the account read.
func mayRead(roles types.AnyType) bool {
	all, ok := roles.(types.ArrayOfInt)
	return ok && slices.ContainsFunc(all.Int, func(r int32) bool { return !slices.Contains(blindRoles, r) })
}

// seesInto reports whether the account would see VMs in a folder in which it sees
// none and which it may read: no permission on the folder ends there, so that its own
// goes on to what is in it. Whose the permissions are need not be known. The question
// needs no more than System.Read on the folder; where it is not answered, nobody can say.
func (v *vcenter) seesInto(ctx context.Context, folder string) bool {
	if v.asked++; v.asked > maxEmpty || v.ServiceContent.AuthorizationManager == nil {
		return false
	}
	ref := types.ManagedObjectReference{Type: "Folder", Value: folder}
	var res *types.RetrieveEntityPermissionsResponse
	err := v.retry.Do(ctx, func() (err error) {
		res, err = methods.RetrieveEntityPermissions(ctx, v.Client, &types.RetrieveEntityPermissions{
			This: *v.ServiceContent.AuthorizationManager, Entity: ref, Inherited: true,
		})
		return err
	})
	if err != nil || len(res.Returnval) == 0 {
		return false
	}
	return !slices.ContainsFunc(res.Returnval, func(p types.Permission) bool { return !p.Propagate })
}
