package list

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"drift-detector/infra"
	capa "drift-detector/infra/aws"
	"drift-detector/infra/capi"
	"drift-detector/internal/lazyregexp"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// pageSize is the most that DescribeInstances gives in one answer, idBatch the
// most values of one filter, and how many ids are asked for at once (EC2 API reference). maxPages bounds a server that
// never stops.
const (
	pageSize = 1000
	idBatch  = 200
	maxPages = 2000
	// maxInstances bounds a server that makes them up, as it does VMs of a vCenter.
	maxInstances = 500_000

	describeInstances = "DescribeInstances"
)

// provider implements infra.Provider. Its only state are the limits on the rate
// of calls, which all targets of a region share, and the logins that failed.
type provider struct {
	capa.Provider
	page       int32 // instances in one answer
	maxBackoff time.Duration
	limits     *limits
	logins     logins
}

// New returns the AWS provider. One value serves one run: its targets share the
// limit on calls per region.
func New() infra.Provider {
	return &provider{Provider: capa.Provider{Getenv: os.Getenv}, page: pageSize, maxBackoff: longestBackoff, limits: newLimits()}
}

// listing is one listing under way.
type listing struct {
	*infra.Listing
	target  infra.Target
	detail  *capa.Detail
	api     *api
	page    int32
	marks   map[infra.Key]bool     // probes to look for
	members map[string][]infra.Key // pools of the backup, by the instance ids that they list
	seen    map[string]bool        // instance ids
	// stateless are the ids of instances whose state EC2 did not say.
	stateless []string
	facts     map[[2]string]infra.Facts // of instances
	planes    []string                  // of EKS that were found
	asgs      []string                  // groups of AWSMachinePools that were found
	lbs       map[string]string         // ARNs of load balancers that are not classic, by name
}

// List reads all instances of a region, and what else the backup names there.
func (p *provider) List(ctx context.Context, t infra.Target) infra.Listing {
	d, made := t.Detail.(*capa.Detail)
	c, mine := t.Credential.(capa.Credential)
	l, ok := t.Begin(capa.Name, made && mine)
	if !ok {
		return l
	}
	a, err := p.login(ctx, d, &c, &l, t.Redaction)
	p.noteAccess(ctx, t, d, err, &l)
	if c.Instead != nil && refusedKey(err) {
		l.Warnings = append(l.Warnings, fmt.Sprintf("%s refuses the key of %s: your own AWS credentials are used instead", where(t), t.Subject.The()))
		a, err = p.login(ctx, d, c.Instead, &l, t.Redaction)
	}
	if err != nil {
		l.Fault = connectFault(ctx, t, err)
		return l
	}
	defer a.close()
	run := listing{
		Listing: &l, target: t, detail: d, api: a, page: p.page,
		marks: map[infra.Key]bool{}, members: map[string][]infra.Key{}, seen: map[string]bool{}, lbs: map[string]string{}, facts: map[[2]string]infra.Facts{},
	}
	for _, k := range t.Probes {
		run.marks[k] = true
	}
	run.found(capa.KeyAccount, l.Account)
	run.read(ctx)
	return l
}

// noteAccess notes what became of the credential in the backup: err is that of the login
// with the one that lists.
func (p *provider) noteAccess(ctx context.Context, t infra.Target, d *capa.Detail, err error, l *infra.Listing) {
	l.NoteOwn(ctx, &t, accessOf(err), func(ctx context.Context, own infra.Own) string {
		c, mine := own.Credential.(capa.Credential)
		if !mine || err != nil && !refusedKey(err) {
			return infra.OwnUntried // AWS could not be asked
		}
		a, err := p.login(ctx, d, &c, new(infra.Listing), t.Redaction)
		if err == nil {
			a.close()
		}
		return accessOf(err)
	})
}

// accessOf returns what a login says of a credential.
func accessOf(err error) string {
	var role *roleError
	refusal, _ := codeOf(err)
	switch {
	case err == nil:
		return infra.OwnAccepted
	case errors.Is(err, infra.ErrLockout):
		return infra.OwnUntried
	case keyRefused(err), errors.As(err, &role) && slices.Contains(forbidden, refusal):
		return infra.OwnRefused
	}
	return infra.OwnUntried
}

func (l *listing) read(ctx context.Context) {
	if l.Fault = l.readInstances(ctx); l.Fault == nil {
		l.Fault = l.readMissing(ctx)
	}
	if l.Fault == nil {
		l.readGroups(ctx)
		l.readTemplates(ctx)
		l.readNodegroups(ctx)
		l.readNetworks(ctx)
		l.readProbes(ctx)
		l.readParts(ctx)
		// What was interrupted here is whole in its instances, but must not look
		// as if all of it had been asked for.
		if ctx.Err() != nil {
			l.Fault = infra.CutOff(ctx, where(l.target))
		}
	}
	if n := len(l.stateless); l.Fault == nil && n > 0 {
		l.Fault = networkFault(l.target, "listing instances", lacking("DescribeInstances", fmt.Sprintf("holds %d without a state that is known, first %s", n, l.stateless[0])))
	}
	l.addGroupKeys()
	sorting.By(l.Instances, func(a, b infra.Instance) int { return cmp.Compare(a.Identity, b.Identity) })
	sorting.By(l.PoolSizes, func(a, b infra.PoolSize) int { return capi.CompareKeys(a.Probe, b.Probe) })
	slices.SortFunc(l.ProbesFound, capi.CompareKeys)
	l.ProbesFound = slices.Compact(l.ProbesFound)
	slices.SortFunc(l.Unread, infra.KeyKind.Compare)
	sorting.StableBy(l.Facts, func(a, b infra.Fact) int { return cmp.Compare(a.Name, b.Name) })
	switch {
	case l.Fault == nil:
		l.State = code.ScopeComplete
	case l.Count() > 0:
		l.State = code.ScopePartial
	}
}

// readInstances lists the region, unfiltered: who owns an instance is read from
// its tags, and a tag that was lost must not hide it.
func (l *listing) readInstances(ctx context.Context) *infra.Fault {
	if err := l.readPages(ctx); err != nil {
		return listFault(ctx, l.target, "ec2:DescribeInstances", fmt.Sprintf("listing instances broke off after %d", l.Count()), err)
	}
	return nil
}

// readMissing asks for the instances that the backup names and the list lacks, by their
// ids: an empty list is what anything can answer, and EC2 alone denies an instance by its
// name. One that is there all the same shows that the list is not whole.
func (l *listing) readMissing(ctx context.Context) *infra.Fault {
	missing, before := l.unseen(l.detail.IDs), l.Count()
	for batch := range slices.Chunk(missing, idBatch) {
		if err := l.lookUp(ctx, batch); err != nil {
			return listFault(ctx, l.target, "ec2:DescribeInstances", "looking up the instances that "+l.target.Subject.The()+" names", err)
		}
	}
	if n := l.Count() - before; n > 0 {
		return networkFault(l.target, "listing instances", lacking("DescribeInstances", fmt.Sprintf("left out %d that %s names and that are there", n, l.target.Subject.The())))
	}
	return nil
}

// unseen returns the ids of instances that were not listed.
func (l *listing) unseen(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return l.seen[id] })
}

// lookUp takes each of the instances, or learns that there is none. EC2 names in one
// error all that it does not find (as its copy moto 5.2.5 does, ec2/exceptions.py), and
// gives the others only when it is asked for them alone.
func (l *listing) lookUp(ctx context.Context, ids []string) error {
	for len(ids) > 0 {
		out, err := l.api.instances(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids})
		if err != nil {
			absent := denied(err)
			rest := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(absent, id) })
			if len(rest) == len(ids) {
				return err
			}
			ids = rest
			continue
		}
		l.take(out.Reservations)
		if rest := l.unseen(ids); len(rest) > 0 {
			return lacking("DescribeInstances", fmt.Sprintf("neither holds %d of the instances that were asked for nor says that they do not exist, first %s", len(rest), rest[0]))
		}
		return nil
	}
	return nil
}

var instanceIDs = lazyregexp.New(`\bi-[0-9a-f]+\b`)

// denied returns the ids of which an error says that there is no such instance. Its text is
// searched, once for all of a batch, and never shown.
func denied(err error) []string {
	var said smithy.APIError
	if !errors.As(err, &said) || !strings.HasPrefix(said.ErrorCode(), "InvalidInstanceID.") {
		return nil
	}
	return instanceIDs.FindAllString(said.ErrorMessage(), -1)
}

// readPages takes all instances, page by page.
func (l *listing) readPages(ctx context.Context) error {
	in := &ec2.DescribeInstancesInput{MaxResults: aws.Int32(l.page)}
	var quiet infra.Quiet
	for range maxPages {
		out, err := l.api.instances(ctx, in)
		if err != nil {
			return err
		}
		before := l.Count()
		l.take(out.Reservations)
		l.target.Found(l.Count())
		if aws.ToString(out.NextToken) == "" {
			return nil
		}
		if l.Count() > maxInstances {
			return lacking(describeInstances, fmt.Sprintf("does not end: there are more than %d instances", maxInstances))
		}
		if err := quiet.Page(l.Count() > before); err != nil {
			return lacking(describeInstances, "does not end: "+err.Error())
		}
		in.NextToken = out.NextToken
	}
	return errEndless
}

// errEndless says that a server keeps answering that there is more.
var errEndless = fmt.Errorf("there are more than %d pages", maxPages)

func (l *listing) take(reservations []types.Reservation) {
	for i := range reservations {
		for j := range reservations[i].Instances {
			one := &reservations[i].Instances[j]
			id := aws.ToString(one.InstanceId)
			if l.seen[id] {
				continue
			}
			l.seen[id] = true
			found := l.instance(one)
			if found.Unreadable {
				l.stateless = append(l.stateless, id)
			}
			if _, ours := slices.BinarySearch(l.detail.All, id); ours {
				found.Facts = l.walkFacts(one)
			}
			l.File(&l.target, found)
		}
	}
}
