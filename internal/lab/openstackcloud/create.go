package openstackcloud

// makeOne makes one object and returns its id, or "" for one that something else makes.
func (f *Fleet) makeOne(kind string, o Object, w world) string {
	s, network := f.of(o), f.IDs[text(o, "network_id")]
	switch kind {
	case "networks":
		if o["router:external"] == true {
			return id(f.admin.call("POST", "network", "/networks", Object{"network": Object{"name": o["name"], "router:external": true}}), "network")
		}
		return id(s.call("POST", "network", "/networks", Object{"network": Object{"name": o["name"]}}), "network")
	case "subnets":
		in := only(o, "name", "cidr", "ip_version", "enable_dhcp", "gateway_ip", "description", "allocation_pools", "dns_nameservers")
		in["network_id"] = network
		if o["router:external"] == true {
			s = f.admin
		}
		return id(s.call("POST", "network", "/subnets", Object{"subnet": in}), "subnet")
	case "security_groups":
		if o["name"] == "default" {
			return f.defaults[f.A.Project]
		}
		return id(s.call("POST", "network", "/security-groups", Object{"security_group": only(o, "name", "description")}), "security_group")
	case "routers":
		return f.router(s, o, w)
	case "ports":
		return f.port(s, o)
	case "servers":
		return f.server(s, o, w)
	}
	return f.floatingIP(s, o)
}

func (f *Fleet) router(s *session, o Object, w world) string {
	gateway, _ := o["external_gateway_info"].(Object)
	in := only(o, "name", "description")
	in["external_gateway_info"] = Object{"network_id": f.IDs[text(gateway, "network_id")]}
	made := id(s.call("POST", "network", "/routers", Object{"router": in}), "router")
	for _, p := range w["ports"] {
		if p["device_id"] == o["id"] {
			subnet := text(list(p, "fixed_ips")[0], "subnet_id")
			s.call("PUT", "network", "/routers/"+made+"/add_router_interface", Object{"subnet_id": f.IDs[subnet]})
		}
	}
	return made
}

// port makes a port as CAPO does. Those that nova or a router makes are left to them.
func (f *Fleet) port(s *session, o Object) string {
	if text(o, "name") == "" {
		return ""
	}
	in := only(o, "name", "description")
	in["network_id"], in["fixed_ips"], in["security_groups"] = f.IDs[text(o, "network_id")], f.fixed(o), f.groups(s, o)
	return id(s.call("POST", "network", "/ports", Object{"port": in}), "port")
}

func (f *Fleet) fixed(port Object) []Object {
	var all []Object
	for _, ip := range list(port, "fixed_ips") {
		all = append(all, Object{"subnet_id": f.IDs[text(ip, "subnet_id")], "ip_address": ip["ip_address"]})
	}
	return all
}

func (f *Fleet) groups(s *session, port Object) []string {
	all := []string{}
	groups, _ := port["security_groups"].([]any)
	for _, g := range groups {
		made := f.IDs[g.(string)]
		if made == f.defaults[f.A.Project] && s.project == f.B.ProjectID {
			made = f.defaults[f.B.Project]
		}
		all = append(all, made)
	}
	return all
}

// server makes a server on its port, or on a network if it was made by hand.
func (f *Fleet) server(s *session, o Object, w world) string {
	flavor, image := o["flavor"].(Object), o["image"].(Object)
	in := only(o, "name", "metadata", "tags")
	in["imageRef"] = f.IDs[text(image, "id")]
	for _, known := range w["flavors"] {
		if known["name"] == flavor["original_name"] {
			in["flavorRef"] = known["id"]
		}
	}
	for _, p := range w["ports"] {
		if p["device_id"] != o["id"] {
			continue
		}
		if made := f.IDs[text(p, "id")]; made != "" {
			in["networks"] = []Object{{"port": made}}
			continue
		}
		in["networks"] = []Object{{"uuid": f.IDs[text(p, "network_id")], "fixed_ip": list(p, "fixed_ips")[0]["ip_address"]}}
		in["security_groups"] = []Object{}
		for _, g := range f.groups(s, p) {
			in["security_groups"] = append(in["security_groups"].([]Object), Object{"name": g})
		}
	}
	return id(s.call("POST", "compute", "/servers", Object{"server": in}), "server")
}

// byHand makes a server that was never recorded, on a network of a recorded name.
func (f *Fleet) byHand(s *session, name, network string) string {
	in := Object{"name": name}
	for recorded, o := range f.state {
		switch {
		case o["name"] == network && kindOf(o) == "networks":
			in["networks"] = []Object{{"uuid": f.IDs[recorded]}}
		case kindOf(o) == "servers":
			in["imageRef"] = f.IDs[text(o["image"].(Object), "id")]
		}
	}
	flavors := list(s.call("GET", "compute", "/flavors", nil), "flavors")
	in["flavorRef"] = flavors[0]["id"]
	return id(s.call("POST", "compute", "/servers", Object{"server": in}), "server")
}

func (f *Fleet) floatingIP(s *session, o Object) string {
	made := s.call("POST", "network", "/floatingips", Object{"floatingip": Object{
		"floating_network_id": f.IDs[text(o, "floating_network_id")], "port_id": f.IDs[text(o, "port_id")], "description": o["description"],
	}})
	f.IDs[text(o, "floating_ip_address")] = text(made["floatingip"].(Object), "floating_ip_address")
	return id(made, "floatingip")
}
