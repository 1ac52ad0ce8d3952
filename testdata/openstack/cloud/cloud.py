"""cloud.py COMMAND… runs a command beside an OpenStack on loopback, and ends with its status.

It is keystone, placement, glance, neutron and nova with its fake hypervisor, unchanged, on SQLite and without a message
broker. The command finds the URL of keystone in OPENSTACK_IDENTITY; the user is admin, so is the project, the password
adminpw. Ports are free ones of 127.0.0.1, files are in a temporary folder, and both are gone in the end.
"""
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

here = pathlib.Path(__file__).resolve().parent
venv = pathlib.Path(sys.prefix)
state = pathlib.Path(tempfile.mkdtemp(prefix="drift-detector-openstack-"))
begun = time.monotonic()


def free_ports(n):
    """Returns ports that nobody listens on. They are below those that a system gives to
    who asks for any (Linux: from 32768), because a minute passes until services listen."""
    sockets = []
    for port in random.sample(range(10000, 32000), 1000):
        s = socket.socket()
        try:
            s.bind(("127.0.0.1", port))
            sockets.append(s)
        except OSError:
            s.close()
        if len(sockets) == n:
            break
    free = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return free


ports = dict(zip(("keystone", "placement", "glance", "neutron", "nova"), free_ports(5)))
url = {name: "http://127.0.0.1:%d" % port for name, port in ports.items()}
identity = url["keystone"] + "/v3"


def database(name):
    """SQLite's own time-out of 5 s is too short for several writers."""
    return "sqlite:///%s/%s.sqlite?timeout=120" % (state, name)


ACCOUNT = f"""
www_authenticate_uri = {identity}
auth_url = {identity}
auth_type = password
username = admin
password = adminpw
project_name = admin
user_domain_id = default
project_domain_id = default
region_name = RegionOne
service_token_roles = admin
"""

# Behind a TLS proxy, links say https.
PROXY = "[oslo_middleware]\nenable_proxy_headers_parsing = true\n"

CONF = {
    "keystone": f"""
[DEFAULT]
use_stderr = false
log_file = {state}/keystone.log
[database]
connection = {database("keystone")}
sqlite_synchronous = false
[token]
provider = fernet
[identity]
password_hash_rounds = 4
[fernet_tokens]
key_repository = {state}/fernet
[credential]
key_repository = {state}/credential
[oslo_policy]
enforce_scope = false
[cache]
enabled = true
backend = dogpile.cache.memory
{PROXY}""",
    "placement": f"""
[DEFAULT]
log_file = {state}/placement.log
[placement_database]
connection = {database("placement")}
sqlite_synchronous = false
sync_on_startup = false
[api]
auth_strategy = keystone
[keystone_authtoken]
{ACCOUNT}""",
    "glance": f"""
[DEFAULT]
log_file = {state}/glance.log
enabled_backends = fs:file
[database]
connection = {database("glance")}
sqlite_synchronous = false
[glance_store]
default_backend = fs
[fs]
filesystem_store_datadir = {state}/images
[os_glance_staging_store]
filesystem_store_datadir = {state}/images/staging
[os_glance_tasks_store]
filesystem_store_datadir = {state}/images/tasks
[keystone_authtoken]
{ACCOUNT}
[paste_deploy]
flavor = keystone
config_file = {venv}/etc/glance/glance-api-paste.ini
{PROXY}""",
    "neutron": f"""
[DEFAULT]
log_file = {state}/neutron.log
core_plugin = ml2
service_plugins = router
transport_url = fake:/
auth_strategy = keystone
api_paste_config = {venv}/etc/neutron/api-paste.ini
notify_nova_on_port_status_changes = false
notify_nova_on_port_data_changes = false
rpc_workers = 0
[oslo_concurrency]
lock_path = {state}/lock
[database]
connection = {database("neutron")}
sqlite_synchronous = false
[keystone_authtoken]
{ACCOUNT}
[ml2]
type_drivers = local,flat,vlan
tenant_network_types = local
mechanism_drivers = bindall
extension_drivers = port_security
{PROXY}""",
    "nova": f"""
[DEFAULT]
log_file = {state}/nova.log
host = fakehost
my_ip = 127.0.0.1
state_path = {state}
transport_url = fake:/
compute_driver = fake.FakeDriver
max_concurrent_builds = 2
sync_power_state_interval = -1
heal_instance_info_cache_interval = -1
vif_plugging_is_fatal = false
vif_plugging_timeout = 0
rpc_response_timeout = 60
[api]
auth_strategy = keystone
[api_database]
connection = {database("nova_api")}
sqlite_synchronous = false
[database]
connection = {database("nova")}
sqlite_synchronous = false
[oslo_concurrency]
lock_path = {state}/lock
[filter_scheduler]
enabled_filters = ComputeFilter
[quota]
driver = nova.quota.NoopQuotaDriver
[keystone_authtoken]
{ACCOUNT}
[service_user]
send_service_user_token = false
[placement]
{ACCOUNT}
[glance]
api_servers = {url["glance"]}
[neutron]
{ACCOUNT}
endpoint_override = {url["neutron"]}
[cinder]
catalog_info = volumev3::publicURL
[workarounds]
disable_root_wrap = true
[key_manager]
backend = nova.keymgr.conf_key_mgr.ConfKeyManager
{PROXY}""",
}

ENVIRONMENT = {
    **os.environ,
    "PATH": "%s:%s" % (venv / "bin", os.environ["PATH"]),
    "PYTHONPATH": str(here),
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONWARNINGS": "ignore",
    "OS_NOVA_DISABLE_EVENTLET_PATCHING": "true",
    "OS_KEYSTONE_CONFIG_DIR": str(state),
    "OS_KEYSTONE_CONFIG_FILES": str(state / "keystone.conf"),
    "OS_PLACEMENT_CONFIG_DIR": str(state),
    "OS_GLANCE_CONFIG_DIR": str(state),
    "OS_NEUTRON_CONFIG_DIR": str(state),
    "OS_NEUTRON_CONFIG_FILES": "neutron.conf",
}


def say(text):
    print("%5.1f s  OpenStack: %s" % (time.monotonic() - begun, text), file=sys.stderr, flush=True)


def steps(name, *commands):
    """Runs commands one after another; what they print is in NAME-manage.log."""
    with open(state / (name + "-manage.log"), "w") as out:
        for command in commands:
            subprocess.run(command, cwd=state, env=ENVIRONMENT, stdout=out, stderr=out, check=True)


def seed():
    """Makes the databases, those of different services at once."""
    for folder in ("fernet", "credential"):
        (state / folder).mkdir(mode=0o700)
    user = ["--keystone-user", str(os.getuid()), "--keystone-group", str(os.getgid())]
    keystone, nova = ["keystone-manage", "--config-file", "keystone.conf"], ["nova-manage", "--config-file", "nova.conf"]
    lanes = {
        "nova": (
            nova + ["api_db", "sync"],
            nova + ["cell_v2", "map_cell0", "--database_connection", database("nova_cell0")],
            nova + ["db", "sync"],
            nova + ["cell_v2", "create_cell", "--name", "cell1", "--transport-url", "fake:/", "--database_connection", database("nova")],
        ),
        "keystone": (
            keystone + ["db_sync"],
            keystone + ["fernet_setup"] + user,
            keystone + ["credential_setup"] + user,
            keystone + ["bootstrap", "--bootstrap-password", "adminpw", "--bootstrap-region-id", "RegionOne",
                        "--bootstrap-public-url", identity, "--bootstrap-internal-url", identity, "--bootstrap-admin-url", identity],
        ),
        "glance": (
            ["placement-manage", "--config-file", "placement.conf", "db", "sync"],
            ["glance-manage", "--config-file", "glance.conf", "db_sync"],
        ),
        "neutron": ([sys.executable, str(here / "neutron_db.py"), database("neutron")],),
    }
    failed = []

    def lane(name, commands):
        try:
            steps(name, *commands)
        except subprocess.CalledProcessError as e:
            failed.append((name, e))

    threads = [threading.Thread(target=lane, args=item) for item in lanes.items()]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failed:
        raise RuntimeError("%s: %s" % failed[0])
    # Readers that wait for the answer of another service do not block who writes.
    for file in state.glob("*.sqlite"):
        sqlite3.connect(file).execute("pragma journal_mode=wal")


class Services:
    """The processes; each ends when its standard input does, also when this program is killed."""

    def __init__(self):
        self.running = {}

    def start(self, name, *command):
        with open(state / (name + ".out"), "w") as out:
            self.running[name] = subprocess.Popen(
                [sys.executable, str(here / command[0]), *command[1:]], cwd=state, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=out, stderr=out)

    def answers(self, name, path="/"):
        for _ in range(1500):
            try:
                urllib.request.urlopen(url[name] + path).close()
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                if self.running[name].poll() is not None:
                    raise RuntimeError(name + " ended")
                time.sleep(0.2)
        raise RuntimeError(name + " does not answer")

    def end(self):
        for process in self.running.values():
            process.stdin.close()
        for process in self.running.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def ask(method, path, body, token=""):
    request = urllib.request.Request(identity + path, body and json.dumps(body).encode(), {"Content-Type": "application/json", "X-Auth-Token": token}, method=method)
    with urllib.request.urlopen(request) as answer:
        return answer.headers, json.loads(answer.read() or "null")


def catalogue():
    """Writes where the services are into keystone."""
    domain = {"id": "default"}
    headers, login = ask("POST", "/auth/tokens", {"auth": {
        "identity": {"methods": ["password"], "password": {"user": {"name": "admin", "domain": domain, "password": "adminpw"}}},
        "scope": {"project": {"name": "admin", "domain": domain}}}})
    token = headers["X-Subject-Token"]
    # Services act as admin; only this role may bind and unbind ports for others.
    role = ask("GET", "/roles?name=service", None, token)[1]["roles"][0]["id"]
    ask("PUT", "/projects/%s/users/%s/roles/%s" % (login["token"]["project"]["id"], login["token"]["user"]["id"], role), None, token)
    for kind, where in {"compute": url["nova"] + "/v2.1", "placement": url["placement"], "image": url["glance"], "network": url["neutron"]}.items():
        _, made = ask("POST", "/services", {"service": {"name": kind, "type": kind}}, token)
        for interface in ("public", "internal"):
            ask("POST", "/endpoints", {"endpoint": {
                "interface": interface, "service_id": made["service"]["id"], "url": where, "region_id": "RegionOne"}}, token)


def start(services):
    for folder in ("lock", "images"):
        (state / folder).mkdir()
    for name, text in CONF.items():
        (state / (name + ".conf")).write_text(text)
    (state / "glance-api.conf").symlink_to("glance.conf")
    seed()
    say("databases made")
    for name in ("keystone", "placement", "glance", "neutron"):
        services.start(name, "serve.py", str(ports[name]), name + ".wsgi.api")
    services.answers("keystone", "/v3")
    catalogue()
    for name in ("placement", "glance", "neutron"):
        services.answers(name)
    services.start("nova", "nova_all.py", "nova.conf", str(venv / "etc/nova/api-paste.ini"), str(ports["nova"]))
    services.answers("nova")
    say("answers")


def complain():
    """Prints the last lines of all logs."""
    for log in sorted(state.glob("*.out")) + sorted(state.glob("*.log")):
        print("== " + log.name, *log.read_text(errors="replace").splitlines()[-10:], sep="\n", file=sys.stderr)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    services = Services()
    try:
        try:
            start(services)
        except Exception:
            complain()
            raise
        return subprocess.run(sys.argv[1:], env={**os.environ, "OPENSTACK_IDENTITY": identity}).returncode
    finally:
        services.end()
        shutil.rmtree(state, ignore_errors=True)
        say("ended")


if __name__ == "__main__":
    sys.exit(main())
