"""nova_all.py CONF API-PASTE PORT runs nova's conductor, scheduler, compute with the fake hypervisor, and API as threads
of one process over oslo.messaging's in-process transport, as nova's functional tests do."""
import os
import sys
import traceback

os.environ["OS_NOVA_DISABLE_EVENTLET_PATCHING"] = "true"
from nova import monkey_patch  # noqa: E402

monkey_patch.patch(backend="threading")
import oslo_service.backend as backend  # noqa: E402

backend.init_backend(backend.BackendType.THREADING)

import sqlalchemy  # noqa: E402
from nova import config, context, objects, service  # noqa: E402
from nova.api.openstack import wsgi_app  # noqa: E402
from nova.compute import rpcapi as compute  # noqa: E402
from nova.conductor import rpcapi as conductor  # noqa: E402
from nova.objects import host_mapping  # noqa: E402
from nova.scheduler import rpcapi as scheduler  # noqa: E402
from oslo_log import log  # noqa: E402
from oslo_service import _options  # noqa: E402
from paste import deploy  # noqa: E402

import nova.conf  # noqa: E402
import serve  # noqa: E402


@sqlalchemy.event.listens_for(sqlalchemy.engine.Engine, "begin")
def begin_as_writer(connection):
    """oslo.db begins as a reader. A reader that turns writer while another writes fails at once, whatever the timeout;
    who begins as a writer waits. oslo.db leaves a transaction alone that has this mark."""
    if "in_transaction" not in connection.info:
        connection.execute(sqlalchemy.text("BEGIN IMMEDIATE"))
        connection.info["in_transaction"] = True


def die(kind, value, tb):
    """Threads would keep a process alive of which a part did not start."""
    traceback.print_exception(kind, value, tb)
    os._exit(1)


sys.excepthook = die
conf, paste, port = sys.argv[1:4]
sys.argv = ["nova-all"]
config.parse_args(["nova-all"], default_config_files=[conf])
log.setup(nova.conf.CONF, "nova")
nova.conf.CONF.register_opts(_options.service_opts)
objects.register_all()
running = []
for binary, topic, other in (
    ("nova-conductor", conductor.RPC_TOPIC, None),
    ("nova-scheduler", scheduler.RPC_TOPIC, None),
    ("nova-compute", compute.RPC_TOPIC, compute.RPC_TOPIC_ALT),
):
    running.append(service.Service.create(binary=binary, topic=topic, topic_alt=other))
    running[-1].start()
host_mapping.discover_hosts(context.get_admin_context(), status_fn=print)
wsgi_app._setup_service(nova.conf.CONF.host, "osapi_compute")
serve.serve(int(port), deploy.loadapp("config:" + paste, name="osapi_compute"))
