package aws

import (
	_ "embed"
	"strings"

	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/infra/aws/awscli"
	"drift-detector/internal/lazyregexp"
)

// Name is the provider's name in reports.
const Name = "aws"

//go:embed permissions.json
var policy string

// Flags that let the operator's own credentials be used: one profile of the
// operator's configuration, or the SDK's whole chain.
const (
	flagProfile = "aws-profile"
	flagAmbient = "aws-ambient"
)

// Provider is all of the AWS provider but List, which package list adds.
type Provider struct {
	Getenv func(name string) string // a variable of the operator's environment
}

// Spec says what the provider reads from a backup.
func (p *Provider) Spec() infra.Spec {
	return infra.Spec{
		Name: Name, Title: "AWS", Scope: "AWS account",
		Supports:     "CAPA v1beta1 and v1beta2, EKS node groups and machine pools as sets",
		Want:         want,
		Rules:        []check.Rule{ruleCredential, ruleControllerCredential, ruleBadIdentity, rulesForbidden.Decided, rulesForbidden.Undecided, ruleKubeconfig, ruleBootstrap},
		Keys:         providerIDKeys,
		MachineKinds: []infra.Kind{{Group: group, Kind: machineKind, Plural: "awsmachines"}},
		ClusterKind:  infra.Kind{Group: group, Kind: clusterKind, Plural: "awsclusters"},
		ManagedPlanes: []infra.Kind{
			// CAPA reads an identity there, not in an AWSCluster (controlplane/eks/api/v1beta2 v2.11.1).
			{Group: planeGroup, Kind: planeKind, Plural: "awsmanagedcontrolplanes"},
			{Group: planeGroup, Kind: rosaKind, Plural: "rosacontrolplanes"},
		},
		IdentityKinds: []infra.Kind{
			{Group: group, Kind: controllerIdentity, Plural: "awsclustercontrolleridentities"},
			{Group: group, Kind: roleIdentity, Plural: "awsclusterroleidentities"},
			{Group: group, Kind: staticIdentity, Plural: "awsclusterstaticidentities"},
		},
		// GetRunningInstanceByTags in pkg/cloud/services/ec2/instances.go v2.11.1,
		// updateCAPIKubeconfigSecret in pkg/cloud/services/eks/config.go v2.13.0.
		Controller: infra.Controller{
			Name: "CAPA", ID: infra.IDInSpec, Makes: "launches an instance", RunningOnly: true, OwnsKubeconfig: planeKind, Defaults: true,
		},
		OnDelete:         "deleting a Machine makes CAPA terminate the instance that has its id",
		SeparateAccounts: true,
		Tool:             awscli.Tool{},
		Remedies:         remedies,
		Walk:             walkRows(),
		Words:            map[string]string{keyInstance.String(): "instance id"},
		Permissions: infra.Permissions{
			About: "is an IAM policy, with a statement for sts:AssumeRole that only clusters with an AWSClusterRoleIdentity need",
			Text:  policy, File: "permissions.json", Save: "policy.json",
		},
		Flags: []infra.Flag{
			{Name: flagProfile, Usage: "AWS profile `NAME`, not the controller's credential; it is of your own configuration", Excludes: flagAmbient},
			{Name: flagAmbient, Usage: "your default AWS credentials instead; of environment, configuration or instance role"},
		},
	}
}

const providerIDPrefix = "aws://"

// providerIDKeys reads ids of the form aws:///us-east-1a/i-0123456789abcdef0. The
// last part alone counts, as for CAPA (pkg/cloud/scope/providerid.go v2.11.1).
func providerIDKeys(providerID string) []infra.Key {
	id := strings.TrimSpace(providerID)
	if len(id) < len(providerIDPrefix) || !strings.EqualFold(id[:len(providerIDPrefix)], providerIDPrefix) {
		return nil
	}
	if i := instanceIDOf(id[strings.LastIndex(id, "/")+1:]); i != "" {
		return []infra.Key{{Kind: keyInstance, Value: i}}
	}
	return nil
}

// instanceIDForm is a prefix and 8 or, since 2016, 17 hexadecimal digits.
var instanceIDForm = lazyregexp.New(`^i-[0-9a-f]{8,17}$`)

// instanceIDOf returns the instance id in lower case, or empty when s is none.
func instanceIDOf(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if !instanceIDForm.MatchString(s) {
		return ""
	}
	return s
}

// zoneOf returns the availability zone that a provider id names, or empty.
func zoneOf(providerID string) string {
	parts := strings.Split(strings.TrimSpace(providerID), "/")
	if len(parts) < 3 {
		return ""
	}
	return parts[len(parts)-2]
}
