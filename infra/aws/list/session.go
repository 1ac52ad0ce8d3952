package list

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"

	"drift-detector/backup"
	"drift-detector/infra"
	capa "drift-detector/infra/aws"
)

const (
	attempts       = 5 // per call, the first included
	longestBackoff = 20 * time.Second
	sessionName    = "drift-detector" // where the role's object asks for no other
	roleDuration   = 3600             // seconds; the most that a chain of roles may last
	loginTimeout   = time.Minute      // until AWS has said who we are
)

// operation is one operation of the SDK.
type operation[I, O, F any] func(context.Context, *I, ...func(*F)) (*O, error)

// api is the calls of one listing. It holds functions and no client: the linker
// keeps every method of a type that becomes an interface value, and EC2 has
// hundreds (15 MB of them).
type api struct {
	identity       operation[sts.GetCallerIdentityInput, sts.GetCallerIdentityOutput, sts.Options]
	instances      operation[ec2.DescribeInstancesInput, ec2.DescribeInstancesOutput, ec2.Options]
	vpcs           operation[ec2.DescribeVpcsInput, ec2.DescribeVpcsOutput, ec2.Options]
	subnets        operation[ec2.DescribeSubnetsInput, ec2.DescribeSubnetsOutput, ec2.Options]
	securityGroups operation[ec2.DescribeSecurityGroupsInput, ec2.DescribeSecurityGroupsOutput, ec2.Options]
	nats           operation[ec2.DescribeNatGatewaysInput, ec2.DescribeNatGatewaysOutput, ec2.Options]
	routes         operation[ec2.DescribeRouteTablesInput, ec2.DescribeRouteTablesOutput, ec2.Options]
	templates      operation[ec2.DescribeLaunchTemplateVersionsInput, ec2.DescribeLaunchTemplateVersionsOutput, ec2.Options]
	groups         operation[autoscaling.DescribeAutoScalingGroupsInput, autoscaling.DescribeAutoScalingGroupsOutput, autoscaling.Options]
	classicLBs     operation[elb.DescribeLoadBalancersInput, elb.DescribeLoadBalancersOutput, elb.Options]
	lbs            operation[elbv2.DescribeLoadBalancersInput, elbv2.DescribeLoadBalancersOutput, elbv2.Options]
	plane          operation[eks.DescribeClusterInput, eks.DescribeClusterOutput, eks.Options]
	nodegroup      operation[eks.DescribeNodegroupInput, eks.DescribeNodegroupOutput, eks.Options]
	addons         operation[eks.ListAddonsInput, eks.ListAddonsOutput, eks.Options]
	addon          operation[eks.DescribeAddonInput, eks.DescribeAddonOutput, eks.Options]
	accessEntries  operation[eks.ListAccessEntriesInput, eks.ListAccessEntriesOutput, eks.Options]
	accessEntry    operation[eks.DescribeAccessEntryInput, eks.DescribeAccessEntryOutput, eks.Options]
	policies       operation[eks.ListAssociatedAccessPoliciesInput, eks.ListAssociatedAccessPoliciesOutput, eks.Options]
	profile        operation[eks.DescribeFargateProfileInput, eks.DescribeFargateProfileOutput, eks.Options]
	providers      operation[eks.ListIdentityProviderConfigsInput, eks.ListIdentityProviderConfigsOutput, eks.Options]
	provider       operation[eks.DescribeIdentityProviderConfigInput, eks.DescribeIdentityProviderConfigOutput, eks.Options]
	hooks          operation[autoscaling.DescribeLifecycleHooksInput, autoscaling.DescribeLifecycleHooksOutput, autoscaling.Options]
	lbTags         operation[elbv2.DescribeTagsInput, elbv2.DescribeTagsOutput, elbv2.Options]
	targetGroups   operation[elbv2.DescribeTargetGroupsInput, elbv2.DescribeTargetGroupsOutput, elbv2.Options]
	targets        operation[elbv2.DescribeTargetHealthInput, elbv2.DescribeTargetHealthOutput, elbv2.Options]
	listeners      operation[elbv2.DescribeListenersInput, elbv2.DescribeListenersOutput, elbv2.Options]
	role           operation[iam.GetRoleInput, iam.GetRoleOutput, iam.Options]
	close          func()
}

// login builds the calls for a target and asks AWS which account they are of.
func (p *provider) login(ctx context.Context, d *capa.Detail, c *capa.Credential, l *infra.Listing, hidden *infra.Redaction) (*api, error) {
	var a *api
	err := p.logins.once(ctx, d.Region, c, func() (err error) {
		ctx, cancel := context.WithTimeout(ctx, loginTimeout)
		defer cancel()
		if a, err = p.connect(ctx, d, c, hidden); err != nil {
			return err
		}
		me, err := a.identity(ctx, &sts.GetCallerIdentityInput{})
		if err != nil {
			a.close()
			return err
		}
		l.Account = aws.ToString(me.Account)
		l.Identity = l.Account
		return nil
	})
	return a, err
}

// connect builds the calls for a target. It contacts AWS only to assume roles,
// and, for the operator's own chain, whatever that chain names.
func (p *provider) connect(ctx context.Context, d *capa.Detail, c *capa.Credential, hidden *infra.Redaction) (*api, error) {
	env, err := config.NewEnvConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the AWS settings of the environment: %w", err)
	}
	http, err := newTransport(p.limits.of(d.Region), env.CustomCABundle, d.Insecure, hidden)
	if err != nil {
		return nil, err
	}
	conf, err := p.config(ctx, d, c, env)
	if err != nil {
		return nil, err
	}
	conf.Region, conf.HTTPClient, conf.Logger = d.Region, http.client(), silent
	conf.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = attempts, p.maxBackoff })
	}
	for _, r := range c.Roles {
		if conf.Credentials, err = assume(ctx, conf, r); err != nil {
			http.next.CloseIdleConnections()
			return nil, err
		}
		if k, err := conf.Credentials.Retrieve(ctx); err == nil {
			hidden.Add(backup.NewSensitive(k.SecretAccessKey), backup.NewSensitive(k.SessionToken))
		}
	}
	a := newAPI(conf)
	a.close = http.next.CloseIdleConnections
	return a, nil
}

// silent drops what the SDK says by itself: stderr is the program's, and what matters is
// in the errors.
var silent = logging.Nop{}

// config says where and with which keys to call. For keys of the backup it
// reads no file of the operator's, and of the environment only what is about
// endpoints; the clients read the endpoints of single services from there.
func (p *provider) config(ctx context.Context, d *capa.Detail, c *capa.Credential, env config.EnvConfig) (aws.Config, error) {
	if !c.Operator {
		conf := aws.Config{
			Credentials:   credentials.NewStaticCredentialsProvider(c.ID.Reveal(), c.Secret.Reveal(), c.Token.Reveal()),
			ConfigSources: []any{env},
		}
		ignored := env.IgnoreConfiguredEndpoints != nil && *env.IgnoreConfiguredEndpoints
		if env.BaseEndpoint != "" && !ignored {
			conf.BaseEndpoint = &env.BaseEndpoint
		}
		return conf, nil
	}
	options := []func(*config.LoadOptions) error{config.WithRegion(d.Region), config.WithLogger(silent)}
	if c.Profile != "" {
		// A profile says where its credential is; the machine that this runs on
		// is not asked in its stead.
		options = append(options, config.WithSharedConfigProfile(c.Profile), config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	}
	conf, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Config{}, fmt.Errorf("reading your own AWS configuration: %w", err)
	}
	return conf, nil
}

func newAPI(conf aws.Config) *api {
	s, e, g := sts.NewFromConfig(conf), ec2.NewFromConfig(conf), autoscaling.NewFromConfig(conf)
	classic, v2, k := elb.NewFromConfig(conf), elbv2.NewFromConfig(conf), eks.NewFromConfig(conf)
	return &api{
		identity:       checked(s.GetCallerIdentity, checkIdentity),
		instances:      checked(e.DescribeInstances, checkInstances),
		vpcs:           checked(e.DescribeVpcs, checkVPCs),
		subnets:        checked(e.DescribeSubnets, checkSubnets),
		securityGroups: checked(e.DescribeSecurityGroups, checkSecurityGroups),
		nats:           checked(e.DescribeNatGateways, checkNATs),
		routes:         checked(e.DescribeRouteTables, checkRoutes),
		templates:      checked(e.DescribeLaunchTemplateVersions, checkTemplates),
		groups:         checked(g.DescribeAutoScalingGroups, checkGroups),
		classicLBs:     checked(classic.DescribeLoadBalancers, checkClassicLBs),
		lbs:            checked(v2.DescribeLoadBalancers, checkLBs),
		plane:          checked(k.DescribeCluster, checkPlane),
		nodegroup:      checked(k.DescribeNodegroup, checkNodegroup),
		addons:         checked(k.ListAddons, checkAddons),
		addon:          checked(k.DescribeAddon, checkAddon),
		accessEntries:  checked(k.ListAccessEntries, checkAccessEntries),
		accessEntry:    checked(k.DescribeAccessEntry, checkAccessEntry),
		policies:       checked(k.ListAssociatedAccessPolicies, checkPolicies),
		profile:        checked(k.DescribeFargateProfile, checkProfile),
		providers:      checked(k.ListIdentityProviderConfigs, checkProviders),
		provider:       checked(k.DescribeIdentityProviderConfig, checkProvider),
		hooks:          checked(g.DescribeLifecycleHooks, checkHooks),
		lbTags:         checked(v2.DescribeTags, checkLBTags),
		targetGroups:   checked(v2.DescribeTargetGroups, checkTargetGroups),
		targets:        checked(v2.DescribeTargetHealth, checkTargets),
		listeners:      checked(v2.DescribeListeners, checkListeners),
		role:           checked(iam.NewFromConfig(conf).GetRole, checkRole),
	}
}

// roleError says which role could not be assumed.
type roleError struct {
	arn   string
	cause error
}

func (e *roleError) Error() string { return fmt.Sprintf("assuming role %s: %v", e.arn, e.cause) }
func (e *roleError) Unwrap() error { return e.cause }

// assume exchanges the credential of a configuration for that of a role.
func assume(ctx context.Context, conf aws.Config, r capa.Role) (aws.CredentialsProvider, error) {
	in := &sts.AssumeRoleInput{RoleArn: &r.ARN, RoleSessionName: aws.String(sessionName), DurationSeconds: aws.Int32(roleDuration)}
	if r.Session != "" {
		in.RoleSessionName = &r.Session
	}
	if r.ExternalID != "" {
		in.ExternalId = &r.ExternalID
	}
	out, err := sts.NewFromConfig(conf).AssumeRole(ctx, in)
	if err != nil {
		return nil, &roleError{r.ARN, err}
	}
	k := out.Credentials
	if k == nil {
		return nil, &roleError{r.ARN, errors.New("the answer holds no credential")}
	}
	return credentials.NewStaticCredentialsProvider(aws.ToString(k.AccessKeyId), aws.ToString(k.SecretAccessKey), aws.ToString(k.SessionToken)), nil
}
