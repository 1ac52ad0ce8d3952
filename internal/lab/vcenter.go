package lab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/types"
)

// VCenterOptions say which vCenter StartVCenter serves.
type VCenterOptions struct {
	// Archive is the path of a vcenter-*.tar.gz as `govc object.save` wrote it.
	// Empty serves a vCenter with one datacenter, DC0, and not one VM.
	Archive string
	// Accounts are the users that may log in, with their passwords. Nil lets
	// anybody in who gives both.
	Accounts map[string]string
	// InstanceUUID replaces the vCenter's own id (about.instanceUuid): two
	// vCenters served from one archive are otherwise one and the same. An
	// empty vCenter gets a new one by itself.
	InstanceUUID string
	// Names are DNS names that the certificate holds beside localhost and 127.0.0.1.
	Names []string
}

// VCenter is a running vCenter simulator. Its methods may be called while it serves.
type VCenter struct {
	// Addr is where it listens, "127.0.0.1:port".
	Addr string
	// Named is the address that it had when it was saved, which is what the
	// backups of the lab call it; empty for an empty vCenter.
	Named string
	// Thumbprint is the SHA-256 of the server certificate, colon-separated.
	Thumbprint string
	// CA is the certificate that verifies the server, PEM.
	CA []byte
	// Service is the simulator itself, for its fault rules (AddFaultRule).
	Service *simulator.Service

	giveBack func() // the unpacked archive

	model    *simulator.Model
	server   *simulator.Server
	front    front
	greeting greeting
	edit     sync.Mutex // one change of the inventory at a time

	mu     sync.Mutex
	logins Logins
	denied map[types.ManagedObjectReference]bool
	closed bool
}

// Logins count what clients did with their sessions.
type Logins struct {
	OK, Failed int
	Logouts    int
}

// Open returns the number of sessions that were never logged out.
func (l Logins) Open() int { return l.OK - l.Logouts }

// starting serialises the start of simulators: they read and write default
// settings that are package variables of govmomi (simulator/option_manager.go v0.56.0).
var starting sync.Mutex

// StartVCenter serves a vCenter on a random port of 127.0.0.1 until Close.
func StartVCenter(o VCenterOptions) (*VCenter, error) {
	starting.Lock()
	defer starting.Unlock()
	v := &VCenter{denied: map[types.ManagedObjectReference]bool{}, giveBack: func() {}}
	if err := v.load(o.Archive); err != nil {
		v.giveBack()
		return nil, fmt.Errorf("starting the vCenter simulator: %w", err)
	}
	v.Service = v.model.Service
	if err := v.serve(o); err != nil {
		v.model.Remove()
		v.giveBack()
		return nil, fmt.Errorf("starting the vCenter simulator: %w", err)
	}
	return v, nil
}

func (v *VCenter) serve(o VCenterOptions) error {
	pair, err := selfSigned(append([]string{"localhost", "127.0.0.1"}, o.Names...))
	if err != nil {
		return err
	}
	v.Thumbprint, v.CA = pair.thumbprint(), pair.certPEM
	registry := v.Service.Context.Map
	for _, setting := range registry.OptionManager().Setting {
		// vcsim notes its address here, and object.save keeps it.
		if value := setting.GetOptionValue(); value.Key == "vcsim.server.url" {
			text, _ := value.Value.(string)
			if u, err := url.Parse(text); err == nil {
				v.Named = u.Host
			}
		}
	}
	content := &registry.Get(vim25.ServiceInstance).(*simulator.ServiceInstance).Content
	switch {
	case o.InstanceUUID != "":
		content.About.InstanceUuid = o.InstanceUUID
	case o.Archive == "":
		content.About.InstanceUuid = newUUID()
	}
	v.watchLogins(o.Accounts)
	v.wrapCollector()
	leaf, err := x509.ParseCertificate(pair.der)
	if err != nil {
		return err
	}
	v.Service.TLS = v.greeting.before(&tls.Config{Certificates: []tls.Certificate{pair.tls()}, MinVersion: tls.VersionTLS12}, leaf, pair.key)
	v.server = v.Service.NewServer()
	v.server.Config.Handler = v.front.before(quietLogout(v.server.Config.Handler))
	// Clients that turn away from a certificate are part of the tests.
	v.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	v.Addr = v.server.URL.Host
	return nil
}

// watchLogins makes the simulator ask accounts for every login, and counts.
func (v *VCenter) watchLogins(accounts map[string]string) {
	// Only a URL with a user of its own makes the simulator ask ValidLogin.
	v.Service.Listen = &url.URL{User: url.User("lab")}
	registry := v.Service.Context.Map
	registry.SessionManager().ValidLogin = func(req *types.Login) bool {
		password, known := accounts[req.UserName]
		ok := known && password == req.Password
		if accounts == nil {
			ok = req.UserName != "" && req.Password != ""
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		if ok {
			v.logins.OK++
		} else {
			v.logins.Failed++
		}
		return ok
	}
	registry.Handler = v.countLogouts
}

// Logins returns what was counted so far.
func (v *VCenter) Logins() Logins {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.logins
}

// InstanceUUID returns the vCenter's own id (about.instanceUuid).
func (v *VCenter) InstanceUUID() string {
	return v.Service.Context.Map.Get(vim25.ServiceInstance).(*simulator.ServiceInstance).Content.About.InstanceUuid
}

// Reroute returns what drift-detector's --endpoint flag takes to reach the vCenter
// that the lab's backups name, "FROM=TO".
func (v *VCenter) Reroute() string { return v.Named + "=" + v.Addr }

// WriteCredentials writes credentials.yaml into dir, for the flag
// --credentials: it pins the simulator's certificate for the address that the
// backup names, and leaves user and password to the backup.
func (v *VCenter) WriteCredentials(dir string) (string, error) {
	file := filepath.Join(dir, "credentials.yaml")
	text := fmt.Sprintf("endpoints:\n- endpoint: %q\n  thumbprint: %q\n", v.Named, v.Thumbprint)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("writing the lab's credentials: %w", err)
	}
	return file, nil
}

// Close stops serving and removes what the simulator wrote. It may be called twice.
func (v *VCenter) Close() {
	v.mu.Lock()
	done := v.closed
	v.closed = true
	v.mu.Unlock()
	if done {
		return
	}
	v.server.CloseClientConnections()
	v.server.Close()
	v.model.Remove()
	v.giveBack()
}

// load loads a saved vCenter, or an empty one.
func (v *VCenter) load(archive string) error {
	if archive == "" {
		var err error
		v.model, err = emptyModel()
		return err
	}
	saved, giveBack, err := borrow(archive)
	if err != nil {
		return err
	}
	v.giveBack = giveBack
	v.model, err = loadModel(archive, saved)
	return err
}

// loadModel loads the unpacked archive of a saved vCenter.
func loadModel(archive, saved string) (*simulator.Model, error) {
	// The simulator puts datastores under a temporary directory that the
	// OptionManager makes, so that one must be loaded before them; without it
	// they would land in the working directory (simulator/model.go v0.56.0).
	if m, _ := filepath.Glob(filepath.Join(saved, "0*-OptionManager-*.xml")); len(m) == 0 {
		return nil, fmt.Errorf("loading %s: it holds no OptionManager", archive)
	}
	model := new(simulator.Model)
	if err := model.Load(saved); err != nil {
		return nil, fmt.Errorf("loading %s: %w", archive, err)
	}
	return model, nil
}

// emptyModel makes a vCenter with one datacenter, one host and no VM.
func emptyModel() (*simulator.Model, error) {
	model := simulator.VPX()
	model.Machine = 0
	if err := model.Create(); err != nil {
		return nil, err
	}
	return model, nil
}

// context returns a context of the simulator that holds no lock yet.
func (v *VCenter) context() *simulator.Context {
	// Events that the simulator writes name the user of the session.
	session := &simulator.Session{UserSession: types.UserSession{UserName: "lab"}, Registry: simulator.NewRegistry()}
	return &simulator.Context{Context: context.Background(), Map: v.Service.Context.Map, Session: session}
}

// pathOf returns the inventory path of an object: "/DC0/vm/prod/web-1".
func (v *VCenter) pathOf(ref types.ManagedObjectReference) string {
	var names []string
	for {
		entity := v.entity(ref)
		if entity == nil || entity.Parent == nil { // the root folder has no part in paths
			break
		}
		names = append([]string{entity.Name}, names...)
		ref = *entity.Parent
	}
	return "/" + strings.Join(names, "/")
}
