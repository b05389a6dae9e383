"""A worker that was written from docs/WORKER-PROTOCOL.md alone: Python's ssl as a client.

Python's ssl does not report when it verifies a chain, and chooses neither the suites of TLS 1.3 nor groups.
A host whose name begins with a key of LIES gets an answer that is not true.
"""

import json
import resource
import socket
import ssl
import struct
import sys
import threading
import time

LIES = {
    "instant": lambda a: a["phases"].update(verify_ns=1),
    "endless": lambda a: a["phases"].update(verify_ns=a["phases"]["tls_ns"]),
    "constant": lambda a: a["transfer"].update(handshake_bytes_in=1500, handshake_bytes_out=500, bytes_in=100_000, bytes_out=1000),
    "uncounted": lambda a: a["transfer"].update(handshake_bytes_in=0),
    "null": lambda a: a["phases"].update(client_hello_ns=None),
    "unknown": lambda a: a["transfer"].pop("bytes_out"),
}

settings = None


def described():
    version = sys.version.split()[0]
    return {
        "type": "description",
        "protocol": 1,
        "stacks": [{
            "record": {
                "executable": "python-worker",
                "stack": "python",
                "library": ssl.OPENSSL_VERSION,
                "provider": None,
                "connector": f"ssl {version}",
                "build": {"python": version},
            },
            "operations": ["connect", "verification-untimed"],
            "groups": ["x25519", "secp256r1", "secp384r1"],
            "suites": [0x1301, 0x1302, 0x1303, 0xC02B, 0xC02F, 0xC02C, 0xC030, 0xCCA9, 0xCCA8],
        }],
    }


class Wire:
    """A TLS connection over buffers, so that its bytes are counted and its turns are seen."""

    def __init__(self, context, host, sock):
        self.sock, self.read, self.out = sock, 0, 0
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname=host)
        self.connected, self.first_ns, self.trips, self.wrote = time.monotonic_ns(), None, 0, False

    def flush(self):
        data = self.outgoing.read()
        if data:
            self.first_ns = self.first_ns or time.monotonic_ns() - self.connected
            self.sock.sendall(data)
            self.out += len(data)
            self.wrote = True

    def run(self, step):
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                self.flush()
                data = self.sock.recv(65536)
                self.trips += self.wrote
                self.wrote = False
                self.read += len(data)
                self.incoming.write(data) if data else self.incoming.write_eof()
            finally:
                self.flush()


def connect(request):
    begun, cpu = time.monotonic_ns(), time.process_time_ns()
    context = ssl.create_default_context(cadata=settings["roots_pem"])
    context.set_alpn_protocols(["http/1.1"])
    connector, connector_cpu = time.monotonic_ns() - begun, time.process_time_ns() - cpu
    start, cpu = time.monotonic_ns(), time.process_time_ns()
    address, port = request["address"].rsplit(":", 1)
    sock = socket.create_connection((address.strip("[]"), int(port)), timeout=request["timeout_ms"] / 1000)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    tcp = time.monotonic_ns() - start
    wire = Wire(context, request["host"], sock)
    wire.run(wire.tls.do_handshake)
    tls = time.monotonic_ns() - wire.connected
    handshake = (wire.out, wire.read)
    path = request.get("request", {}).get("path", "/")
    wire.run(lambda: wire.tls.write(f"GET {path} HTTP/1.1\r\nHost: {request['host']}\r\nConnection: close\r\n\r\n".encode()))
    answer, first_byte = b"", None
    while b"\r\n\r\n" not in answer or len(answer.split(b"\r\n\r\n", 1)[1]) < length(answer):
        answer += wire.run(lambda: wire.tls.read(65536))
        if first_byte is None and b"\r\n\r\n" in answer:
            first_byte = time.monotonic_ns() - wire.connected - tls
    total, cpu = time.monotonic_ns() - start, time.process_time_ns() - cpu
    info = struct.unpack("8B24I", sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104))
    sock.close()
    head, body = answer.split(b"\r\n\r\n", 1)
    suite = [s["id"] & 0xFFFF for s in context.get_ciphers() if s["name"] == wire.tls.cipher()[0]][0]
    return {
        "type": "connected",
        "phases": {
            "connector_ns": connector, "dns_ns": 0, "tcp_ns": tcp, "tls_ns": tls,
            "client_hello_ns": wire.first_ns, "verify_ns": None, "first_byte_ns": first_byte,
            "total_ns": total, "cpu_ns": cpu,
        },
        "client": {
            "version": wire.tls.version().replace("TLSv", ""), "suite": suite, "group": None,
            "signature": None, "alpn": wire.tls.selected_alpn_protocol(), "resumed": False,
            "chain_bytes": [],
        },
        "server": view(head),
        "transfer": {
            "handshake_bytes_out": handshake[0], "handshake_bytes_in": handshake[1],
            "bytes_out": wire.out, "bytes_in": wire.read, "round_trips": wire.trips,
            "tcp": {"rtt_us": info[8 + 15], "min_rtt_us": info[8 + 15], "retransmits": info[8 + 23]},
        },
        "http_status": int(head.split()[1]),
        "body_bytes": len(body),
        "process": {"connector_cpu_ns": connector_cpu, "minor_faults": resource.getrusage(resource.RUSAGE_SELF).ru_minflt},
    }


def fields(head):
    lines = head.decode().split("\r\n")[1:]
    return {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}


def length(answer):
    return int(fields(answer.split(b"\r\n\r\n", 1)[0]).get("content-length", 0))


def view(head):
    value = fields(head).get("x-netbench-server")
    return json.loads(value) if value else None


def failed(error):
    kind = {ssl.SSLCertVerificationError: ("certificate", "other"), TimeoutError: ("timeout", "in tls"),
            ConnectionRefusedError: ("connect", "refused"), ConnectionResetError: ("closed", "reset")}
    found = next((words for type_, words in kind.items() if isinstance(error, type_)), ("closed", "end of stream"))
    return {"type": "failed", "class": found[0], "reason": found[1], "detail": str(error), "phase": "tls", "after_ns": None}


def answer(request):
    global settings
    op = request.get("op")
    if op == "describe":
        return described()
    if op == "configure" and request["stack"] == "python" and set(request["client"]["versions"]) <= {"1.2", "1.3"}:
        settings = request
        return {"type": "configured"}
    if op == "connect" and settings is not None:
        if request["condition"] == "resumed":
            return {"type": "unsupported", "reason": "this worker resumes nothing"}
        try:
            told = connect(request)
        except (OSError, ssl.SSLError) as error:
            return failed(error)
        for word, lie in LIES.items():
            if request["host"].startswith(word):
                lie(told)
        return told
    return {"type": "error", "message": f"cannot do {op!a}"}


def work():
    while line := lines_read.get():
        identity = 0
        try:
            request = json.loads(line.decode(errors="replace"))
            if request["id"] < 0:
                raise ValueError("a negative id")
            identity = request["id"]
            told = answer(request)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            told = {"type": "error", "message": f"not a request: {error!r}"}
        print(json.dumps({"id": identity, **told}), flush=True)


if __name__ == "__main__":
    import os
    import queue

    lines_read = queue.Queue()
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    for line in sys.stdin.buffer:
        lines_read.put(line)
    lines_read.put(None)
    # Answers that are due are given; a connection is not waited for.
    worker.join(0.5)
    os._exit(0)
