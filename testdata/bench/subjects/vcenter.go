package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/vmware/govmomi/cli"
	_ "github.com/vmware/govmomi/cli/object" // object.collect registers itself
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/internal/lab"
)

// govc runs govc itself.
func govc(args []string) error {
	if status := cli.Run(args); status != 0 {
		return fmt.Errorf("govc ended with status %d", status)
	}
	return nil
}

// vcenter serves the lab's vCenter with VMs added until there are so many. It prints
// where, and serves until its stdin ends.
func vcenter(root, number string) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: filepath.Join(root, "testdata/vcenter-after.tar.gz")})
	if err != nil {
		return err
	}
	defer v.Close()
	if err := multiply(v, n); err != nil {
		return err
	}
	var calls atomic.Int64
	registry := v.Service.Context.Map
	counted := registry.Handler
	registry.Handler = func(ctx *simulator.Context, m *simulator.Method) (mo.Reference, types.BaseMethodFault) {
		calls.Add(1)
		return counted(ctx, m)
	}
	counter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, calls.Swap(0))
	}))
	defer counter.Close()
	dir, err := os.MkdirTemp("", "drift-detector-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	credentials, err := v.WriteCredentials(dir)
	if err != nil {
		return err
	}
	fmt.Println(v.Addr, v.Reroute(), credentials, counter.URL)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// multiply adds copies of one VM, each with ids of its own, as nobody's machines.
func multiply(v *lab.VCenter, n int) error {
	registry, ctx := v.Service.Context.Map, v.Service.Context
	all := registry.All("VirtualMachine")
	var model *simulator.VirtualMachine
	for _, e := range all {
		if vm := e.(*simulator.VirtualMachine); vm.Name == "DC0_H0_VM0" {
			model = vm
		}
	}
	if model == nil {
		return fmt.Errorf("the lab's vCenter has no VM to copy")
	}
	folder := registry.Get(*model.Parent).(*simulator.Folder)
	for i := len(all); i < n; i++ {
		vm := &simulator.VirtualMachine{VirtualMachine: model.VirtualMachine}
		config := *model.Config
		vm.Self.Value, vm.Name, vm.Config = fmt.Sprintf("vm-%d", 100000+i), fmt.Sprintf("web-%06d", i), &config
		vm.Config.Uuid, vm.Config.InstanceUuid, vm.Config.Name = id(1, i), id(2, i), vm.Name
		vm.Summary.Config.Uuid, vm.Summary.Config.InstanceUuid, vm.Summary.Config.Name = vm.Config.Uuid, vm.Config.InstanceUuid, vm.Name
		vm.Summary.Config.VmPathName = fmt.Sprintf("[LocalDS_0] %s/%s.vmx", vm.Name, vm.Name)
		folder.ChildEntity = append(folder.ChildEntity, vm.Self)
		registry.Put(vm)
	}
	_ = ctx
	return nil
}

func id(kind, n int) string {
	var name [16]byte
	binary.BigEndian.PutUint64(name[:], uint64(kind))
	binary.BigEndian.PutUint64(name[8:], uint64(n))
	return uuid.NewSHA1(uuid.NameSpaceOID, name[:]).String()
}
