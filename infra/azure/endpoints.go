package azure

import "drift-detector/infra"

// Endpoints are the servers of one cloud.
type Endpoints struct {
	Authority infra.Endpoint // where tokens come from
	Manager   infra.Endpoint // Azure Resource Manager
}

const publicCloud = "AzurePublicCloud"

// Clouds are the servers by the names of azureEnvironment, and the only ones that are
// contacted: a name is all that is taken from a backup (getSettingsFromEnvironment in CAPZ
// azure/scope/clients.go v1.26.0, cloud.AzurePublic and its like in azcore). AzureGermanCloud,
// which CAPZ knows, too, was closed in 2021.
var Clouds = map[string]Endpoints{
	publicCloud:              {infra.Endpoint{Host: "login.microsoftonline.com", Port: "443"}, infra.Endpoint{Host: "management.azure.com", Port: "443"}},
	"AzureChinaCloud":        {infra.Endpoint{Host: "login.chinacloudapi.cn", Port: "443"}, infra.Endpoint{Host: "management.chinacloudapi.cn", Port: "443"}},
	"AzureUSGovernmentCloud": {infra.Endpoint{Host: "login.microsoftonline.us", Port: "443"}, infra.Endpoint{Host: "management.usgovcloudapi.net", Port: "443"}},
}
