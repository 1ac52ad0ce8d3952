package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Fault makes the API server of a cluster misbehave.
type Fault int

// Faults of API servers.
const (
	Healthy            Fault = iota
	Hang                     // accepts, and never answers
	Down                     // refuses the connection
	ExpiredCertificate       // shows a server certificate that ended yesterday
	Forbidden                // answers 403
)

// FaultOf names the fault of one cluster.
type FaultOf struct {
	Cluster string
	Fault   Fault
}

// APIServers serve the Node lists of workload clusters.
type APIServers struct {
	// Addr is where each cluster is served, by cluster name. Clusters that the
	// backup knows and no Node list was saved of have an address that refuses.
	Addr map[string]string

	from     map[string]string // what the backup calls it, by cluster name
	servers  []*http.Server
	front    front
	greeting greeting
	held     []net.Conn
	done     chan struct{}
	stop     sync.Once
	mu       sync.Mutex
	asked    map[string]int
}

// StartAPIServers serves, for each <cluster>.json of nodesDir (a NodeList as
// `kubectl get nodes -o json` prints it), GET /api/v1/nodes over TLS, with a
// certificate of the cluster's own CA and for clients with a certificate of
// that CA. CA and kubeconfig are read from the backup. Close ends it.
func StartAPIServers(backup, nodesDir string, faults ...FaultOf) (*APIServers, error) {
	clusters, err := readWorkloads(backup)
	if err != nil {
		return nil, fmt.Errorf("starting the lab's API servers: %w", err)
	}
	a := &APIServers{
		Addr: map[string]string{}, from: map[string]string{}, asked: map[string]int{},
		done: make(chan struct{}),
	}
	for name, w := range clusters {
		fault := Healthy
		for _, f := range faults {
			if f.Cluster == name {
				fault = f.Fault
			}
		}
		if err := a.start(w, filepath.Join(nodesDir, name+".json"), fault); err != nil {
			a.Close()
			return nil, fmt.Errorf("starting the lab's API server of %s: %w", name, err)
		}
	}
	return a, nil
}

func (a *APIServers) start(w *workload, nodesFile string, fault Fault) error {
	a.from[w.name] = w.server
	text, err := os.ReadFile(nodesFile)
	if errors.Is(err, os.ErrNotExist) || fault == Down {
		a.Addr[w.name], err = a.refusing()
		return err
	}
	if err != nil {
		return err
	}
	var nodes struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(text, &nodes); err != nil {
		return err
	}
	until := time.Now().Add(24 * time.Hour)
	if fault == ExpiredCertificate {
		until = time.Now().Add(-24 * time.Hour)
	}
	config, err := w.serverTLS(until)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	a.Addr[w.name] = l.Addr().String()
	s := &http.Server{
		Handler:           a.front.before(a.handler(w.name, nodes.Items, fault)),
		TLSConfig:         a.greeting.before(config, w.ca, w.caKey),
		ReadHeaderTimeout: 10 * time.Second,
		// Clients that turn away from a certificate are part of the tests.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	a.servers = append(a.servers, s)
	go func() { _ = s.ServeTLS(l, "", "") }()
	return nil
}

// refusing returns a loopback address that refuses connections and that nobody
// else gets: the client's side of a connection that is kept open.
func (a *APIServers) refusing() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return "", err
	}
	a.held = append(a.held, client)
	server, err := l.Accept()
	if err != nil {
		return "", err
	}
	a.held = append(a.held, server)
	return client.LocalAddr().String(), nil
}

func (a *APIServers) handler(cluster string, items []json.RawMessage, fault Fault) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/nodes", func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.asked[cluster]++
		a.mu.Unlock()
		switch fault {
		case Hang:
			select {
			case <-r.Context().Done():
			case <-a.done:
			}
			// Returning would answer 200, which a client that is just closing may still read.
			panic(http.ErrAbortHandler)
		case Forbidden:
			status(w, http.StatusForbidden, "Forbidden", "nodes is forbidden")
		default:
			serveNodes(w, r, items)
		}
	})
	mux.HandleFunc("GET /api/v1/namespaces/kube-system/configmaps/kubeadm-config", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"kubeadm-config","namespace":"kube-system"},"data":{"ClusterConfiguration":"kind: ClusterConfiguration"}}`)
	})
	return mux
}

// serveNodes answers one page, as an API server does with limit and continue
// (Kubernetes API concepts, "Retrieving large results sets in chunks").
func serveNodes(w http.ResponseWriter, r *http.Request, items []json.RawMessage) {
	query := r.URL.Query()
	limit, from := len(items), 0
	if n, err := strconv.Atoi(query.Get("limit")); err == nil && n > 0 {
		limit = n
	}
	if token := query.Get("continue"); token != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(token, "from-"))
		if err != nil || n < 0 || n > len(items) {
			status(w, http.StatusGone, "Expired", "the continue token is not of this server")
			return
		}
		from = n
	}
	to := min(from+limit, len(items))
	meta := map[string]any{"resourceVersion": "1"}
	if to < len(items) {
		meta["continue"], meta["remainingItemCount"] = fmt.Sprintf("from-%d", to), len(items)-to
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "NodeList", "apiVersion": "v1", "metadata": meta, "items": items[from:to],
	})
}

func status(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message,
	})
}

// Asked returns how many requests for Nodes reached the cluster's server.
func (a *APIServers) Asked(cluster string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked[cluster]
}

// Reroutes returns what drift-detector's --endpoint flag takes to reach the
// servers that the backup names, "FROM=TO" each, sorted.
func (a *APIServers) Reroutes() []string {
	var all []string
	for name, from := range a.from {
		all = append(all, from+"="+a.Addr[name])
	}
	slices.Sort(all)
	return all
}

// Close stops all servers. It may be called twice.
func (a *APIServers) Close() {
	a.stop.Do(func() {
		close(a.done)
		for _, s := range a.servers {
			_ = s.Close()
		}
		for _, c := range a.held {
			_ = c.Close()
		}
	})
}
