package check

// Rules returns every kind of finding that [Check] can make by itself, for people who ask
// what a code means. Those of providers are the providers'. A rule without Why leaves it
// to the object that misses another.
func Rules() []Rule {
	all := []Rule{
		ruleOwner, ruleMachines, // absent.go
		ruleAge, ruleOld, RuleNewer, ruleFuture, ruleUndated, ruleWindow, ruleUnreadable, // age.go
		ruleNotPaused, rulePaused, ruleClusterAbsent, ruleClusterLeftOut, // clusters.go
		ruleClass, ruleCertificate, ruleJoinSecret, ruleHostStatus, ruleAuthority, ruleAuthorityEnds, ruleSecrets,
		ruleKinds, ruleNamespaces, ruleLabels, ruleClusterScoped, rulePolicy, // filters.go
		ruleProvisioning, ruleToken, ruleBootstrapData, ruleHealth, ruleOverlap, // machines.go, selectors.go
		ruleUndescribed, ruleOther, ruleIncomplete, ruleWarned, ruleExpired, // velero.go
		ruleNotServed, ruleServedNoLonger, // versions.go
	}
	for i := range absentRules {
		all = append(all, absentRules[i].rule)
	}
	return all
}
