package list

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"drift-detector/infra/aws/awstest"
	"drift-detector/internal/lab"
)

// call is one request, as its signature and its form tell it.
type call struct {
	region, action string
	n              int // of the same region and action, from 1
	form           url.Values
}

// trouble is an answer that goes wrong: an error of AWS, a connection that ends in
// the middle of the answer, or another answer in its place.
type trouble struct {
	code string
	cut  bool
	bend bent
}

// front is before the lab's EC2, counts the calls, and lets any of them go wrong.
type front struct {
	ec2    http.Handler
	faulty func(call) *trouble

	mu    sync.Mutex
	calls map[string]int // by action
	each  map[string]int // by region and action
}

// serve starts the lab's EC2 with further instances and sends the SDK there.
func serve(t *testing.T, o lab.EC2Options, faulty func(call) *trouble, instances ...lab.EC2Instance) *front {
	t.Helper()
	if o.Keys == nil {
		o.Keys = []lab.EC2Key{{ID: awstest.LabKey, Secret: awstest.LabSecret, Token: awstest.LabToken}}
	}
	e, err := lab.StartEC2(o)
	if err != nil {
		t.Fatal(err)
	}
	e.Add(instances...)
	f := &front{ec2: e, faulty: faulty, calls: map[string]int{}, each: map[string]int{}}
	server := httptest.NewServer(f)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		e.Close()
	})
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	return f
}

func (f *front) counts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.calls)
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	form, err := url.ParseQuery(string(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var bad *trouble
	if c := f.note(r, form); f.faulty != nil {
		bad = f.faulty(c)
	}
	switch {
	case bad == nil:
		f.ec2.ServeHTTP(w, r)
	case bad.cut:
		whole := httptest.NewRecorder()
		f.ec2.ServeHTTP(whole, r)
		w.Header().Set("Content-Length", fmt.Sprint(whole.Body.Len()))
		_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
		panic(http.ErrAbortHandler)
	case bad.bend != nil:
		whole := httptest.NewRecorder()
		f.ec2.ServeHTTP(whole, r)
		status, body := bad.bend(whole.Body.Bytes())
		w.WriteHeader(status)
		_, _ = w.Write(body)
	default:
		// AWS repeats in its text what the request carried.
		w.WriteHeader(http.StatusBadRequest)
		one := fmt.Sprintf("<Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error>", bad.code, awstest.LabKey+awstest.LabToken)
		if strings.Contains(r.Header.Get("Authorization"), "/ec2/") {
			fmt.Fprintf(w, "<Response><Errors>%s</Errors><RequestID>r</RequestID></Response>", one)
			return
		}
		fmt.Fprintf(w, "<ErrorResponse>%s<RequestId>r</RequestId></ErrorResponse>", one)
	}
}

func (f *front) note(r *http.Request, form url.Values) call {
	// AWS4-HMAC-SHA256 Credential=KEY/DATE/REGION/SERVICE/aws4_request, …
	_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	c := call{action: form.Get("Action"), form: form}
	if parts := strings.Split(scope, "/"); len(parts) > 2 {
		c.region = parts[2]
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[c.action]++
	f.each[c.region+c.action]++
	c.n = f.each[c.region+c.action]
	return c
}

// always lets every call of an action go wrong, or every call at all.
func always(action, code string) func(call) *trouble {
	return func(c call) *trouble {
		if action != "" && c.action != action {
			return nil
		}
		return &trouble{code: code}
	}
}
