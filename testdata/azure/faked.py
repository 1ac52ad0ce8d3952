#!/usr/bin/env python3
"""Runs a command while armfake.py serves the saved state: faked.py COMMAND...

The command reaches Azure's real host names there, by HTTPS_PROXY and SSL_CERT_FILE, and the
fake's control paths at ARMFAKE. Python's standard library and openssl are all that is needed.
"""
import gzip, os, socket, subprocess, sys, tempfile, time

here = os.path.dirname(os.path.abspath(__file__))


def free():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


with tempfile.TemporaryDirectory() as dir:
    state = os.path.join(dir, 'state.json')
    with gzip.open(os.path.join(here, 'arm-state.json.gz')) as packed, open(state, 'wb') as out:
        out.write(packed.read())
    proxy, plain = free(), free()
    fake = subprocess.Popen([sys.executable, os.path.join(here, 'armfake.py'), '--dir', dir, '--load', state, '--proxy', str(proxy), '--plain', str(plain)],
                            stdout=subprocess.PIPE, text=True)
    try:
        if 'armfake' not in fake.stdout.readline():
            sys.exit('armfake.py did not start')
        env = dict(os.environ, HTTPS_PROXY='http://127.0.0.1:%d' % proxy, NO_PROXY='', SSL_CERT_FILE=os.path.join(dir, 'ca.pem'),
                   ARMFAKE='http://127.0.0.1:%d' % plain, GOPROXY='off')
        sys.exit(subprocess.run(sys.argv[1:], env=env).returncode)
    finally:
        fake.terminate()
        fake.wait()
