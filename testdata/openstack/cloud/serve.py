"""serve.py PORT MODULE serves an OpenStack service, a WSGI application, on loopback until its standard input ends."""
import importlib
import os
import socketserver
import sys
import threading
import wsgiref.simple_server as wsgi


class Server(wsgi.WSGIServer):
    """One request at a time: several writers are more than SQLite can."""

    request_queue_size = 128

    def server_bind(self):
        self.allow_reuse_address = True
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]
        self.setup_environ()


class Handler(wsgi.WSGIRequestHandler):
    def log_message(self, *args):
        pass

    def address_string(self):
        return self.client_address[0]


def wait():
    sys.stdin.read()
    os._exit(0)


def serve(port, application):
    threading.Thread(target=wait, daemon=True).start()
    with wsgi.make_server("127.0.0.1", port, application, Server, Handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    port, module = int(sys.argv[1]), sys.argv[2]
    sys.argv = [module]
    serve(port, importlib.import_module(module).application)
