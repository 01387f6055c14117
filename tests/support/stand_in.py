"""Stands for a process that the nursery at a socket is asked for: it has the same streams and exit
code, and passes on that it is to end. It imports next to nothing."""

import json
import os
import signal
import socket
import sys

address, *arguments = sys.argv[1:]
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as nursery:
    nursery.connect(address)
    wanted = {"arguments": arguments, "env": dict(os.environ), "folder": os.getcwd()}
    socket.send_fds(nursery, [json.dumps(wanted).encode()], [0, 1, 2])
    program = int(nursery.recv(32))
    for told in (signal.SIGTERM, signal.SIGINT):
        signal.signal(told, lambda which, _: os.kill(program, which))
    sys.exit(int(nursery.recv(32)))
