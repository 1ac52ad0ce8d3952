package oracle

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/internal"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/internal/etcd"
)

// management is what KubeadmControlPlane sees its clusters by. It is Cluster API's own,
// except for how it reaches etcd: there is no Pod to forward a port to.
type management struct {
	*internal.Management
	e *Engine
}

// GetWorkloadCluster has a client certificate of elliptic curves, which costs little: what it
// is of, Cluster API asks nowhere.
func (m *management) GetWorkloadCluster(ctx context.Context, cluster *clusterv1.Cluster, _ bootstrapv1.EncryptionAlgorithmType) (internal.WorkloadCluster, error) {
	found, err := m.Management.GetWorkloadCluster(ctx, cluster, bootstrapv1.EncryptionAlgorithmECDSAP256)
	if err != nil {
		return nil, err
	}
	real := found.(*internal.Workload)
	shown := unexported(unexported(reflect.ValueOf(real), "etcdClientGenerator"), "tlsConfig").Interface().(*tls.Config)
	dial := &internal.EtcdClientGenerator{}
	setUnexported(dial, "createClient", func(_ context.Context, endpoint string) (*etcd.Client, error) {
		node := nodeOfEndpoint(endpoint)
		if !m.e.world.memberUp(node) {
			return nil, errors.New("etcd of node " + node + " does not answer")
		}
		if err := m.e.world.workload.etcd.signed(shown.Certificates[0].Certificate[0]); err != nil {
			return nil, fmt.Errorf("etcd of node %s refuses the certificate: %w", node, err)
		}
		return &etcd.Client{EtcdClient: &member{m.e, node}, Endpoint: endpoint, LeaderID: memberID(m.e.world.leader()), CallTimeout: time.Second}, nil
	})
	setUnexported(real, "etcdClientGenerator", dial)
	return &workloadCluster{real}, nil
}

// workloadCluster is Cluster API's own, with certificates that are valid for long.
type workloadCluster struct{ *internal.Workload }

func (*workloadCluster) GetAPIServerCertificateExpiry(context.Context, *bootstrapv1.KubeadmConfig, string) (*time.Time, error) {
	t := time.Now().Add(300 * 24 * time.Hour).UTC()
	return &t, nil
}

// member is one member of etcd. What it says of all members is what the world has.
type member struct {
	e    *Engine
	name string
}

var errNoLeader = errors.New("etcdserver: no leader")

func memberID(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

func (m *member) Close() error        { return nil }
func (m *member) Endpoints() []string { return []string{"etcd-" + m.name} }

func (m *member) AlarmList(context.Context) (*clientv3.AlarmResponse, error) {
	if !m.e.world.quorum() {
		return nil, errNoLeader
	}
	return &clientv3.AlarmResponse{}, nil
}

func (m *member) MemberList(context.Context, ...clientv3.OpOption) (*clientv3.MemberListResponse, error) {
	if !m.e.world.quorum() {
		return nil, errNoLeader
	}
	var all []*pb.Member
	for _, n := range slices.Sorted(maps.Keys(m.e.world.workload.members)) {
		all = append(all, &pb.Member{ID: memberID(n), Name: n, PeerURLs: []string{"https://" + n + ":2380"}, ClientURLs: []string{"https://" + n + ":2379"}})
	}
	return &clientv3.MemberListResponse{Header: &pb.ResponseHeader{}, Members: all}, nil
}

func (m *member) MemberRemove(_ context.Context, id uint64) (*clientv3.MemberRemoveResponse, error) {
	w := m.e.world
	if !w.quorum() {
		return nil, errNoLeader
	}
	for _, n := range slices.Sorted(maps.Keys(w.workload.members)) {
		if memberID(n) == id {
			m.e.trace("member %s of etcd was removed, its VM runs: %v", n, w.memberUp(n))
			w.removedMembers = append(w.removedMembers, n)
			delete(w.workload.members, n)
		}
	}
	return &clientv3.MemberRemoveResponse{}, nil
}

func (m *member) MoveLeader(context.Context, uint64) (*clientv3.MoveLeaderResponse, error) {
	return &clientv3.MoveLeaderResponse{}, nil
}

func (m *member) Status(context.Context, string) (*clientv3.StatusResponse, error) {
	return &clientv3.StatusResponse{Header: &pb.ResponseHeader{}, Leader: memberID(m.e.world.leader())}, nil
}
