"""A client of `asyncdbg dap` for tests. Each message of the server is validated against the types of
@vscode/debugprotocol (dap/protocol.schema.json, made by make/make_dap_schema.sh)."""
import json
import pathlib
import queue
import subprocess
import threading

import jsonschema

from harness.checks import Failure

LIMIT = 300  # seconds until a test is given up
TYPES = json.loads((pathlib.Path(__file__).resolve().parents[2] / "dap/protocol.schema.json").read_text())["definitions"]
# Answers whose type has another name than their command.
NAMES = {"setDataBreakpoints": "SetDataBreakpoints", "configurationDone": "ConfigurationDone"}
MAX_EVENTS = 100000


def validator(name):
    schema = {"$ref": f"#/definitions/DebugProtocol.{name}", "definitions": TYPES}
    return jsonschema.Draft7Validator(schema)


VALIDATORS = {}


def check_type(name, message):
    if f"DebugProtocol.{name}" not in TYPES:
        raise Failure(f"there is no type {name}: {message}")
    if name not in VALIDATORS:
        VALIDATORS[name] = validator(name)
    errors = [f"{'/'.join(map(str, e.path))}: {e.message}" for e in VALIDATORS[name].iter_errors(message)]
    if errors:
        raise Failure(f"{name} is not as the protocol says: {errors[:3]}: {json.dumps(message)[:400]}")


def check_integers(value, where=""):
    """The types have numbers where the protocol has integers of 31 bits."""
    if isinstance(value, float) or (isinstance(value, int) and not -2**31 < value < 2**31):
        raise Failure(f"{where}: {value} is no integer that clients can read")
    for key, inner in value.items() if isinstance(value, dict) else []:
        check_integers(inner, f"{where}/{key}")
    for inner in value if isinstance(value, list) else []:
        check_integers(inner, where)


def check_message(message):
    kind, body = message.get("type"), message.get("body")
    if kind == "event":
        name = message["event"]
        check_type(f"{name[0].upper()}{name[1:]}Event", message)
    elif kind == "response":
        name = message["command"]
        if not message["success"]:
            check_type("ErrorResponse", message)
        elif not name.startswith("asyncdbg/"):
            check_type(f"{name[0].upper()}{name[1:]}Response", message)
    else:
        raise Failure(f"a message of no known type: {message}")
    if not str(message.get("command", "")).startswith("asyncdbg/"):
        check_integers(body if isinstance(body, (dict, list)) else {}, kind)


class Client:
    """Starts a server, or takes streams of one."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, **options)
        self.seq = self.last_seq = 0
        self.messages = queue.Queue(MAX_EVENTS)
        self.events, self.all_events, self.responses = [], [], {}
        self.errors = b""
        self.readers = [threading.Thread(target=self.read_all, daemon=True),
                        threading.Thread(target=self.read_errors, daemon=True)]
        for reader in self.readers:
            reader.start()

    def read_errors(self):
        self.errors = self.process.stderr.read(1 << 20)

    def read_one(self):
        length = None
        while True:
            line = self.process.stdout.readline(4096)
            if not line:
                return None
            if line == b"\r\n":
                break
            name, _, value = line.decode().partition(":")
            if name == "Content-Length":
                length = int(value)
        text = self.process.stdout.read(length)
        return json.loads(text.decode("utf-8"))

    def read_all(self):
        try:
            while (message := self.read_one()) is not None:
                self.messages.put(message)
        except Exception as e:  # pylint: disable=broad-except
            self.messages.put(e)
        self.messages.put(None)

    def send_bytes(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def send(self, command, arguments=None):
        """Sends a request and returns its number."""
        self.seq += 1
        message = {"seq": self.seq, "type": "request", "command": command}
        if arguments is not None:
            message["arguments"] = arguments
        text = json.dumps(message).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        return self.seq

    def take(self):
        """Takes the next message; False: the stream has ended."""
        try:
            message = self.messages.get(timeout=LIMIT)
        except queue.Empty:
            raise Failure(f"no message in {LIMIT} s; events: {self.events[-3:]}") from None
        if message is None:
            return False
        if isinstance(message, Exception):
            raise Failure(f"unreadable: {message!r}")
        if message.get("seq") != self.last_seq + 1:
            raise Failure(f"numbers of messages: {message.get('seq')} after {self.last_seq}")
        self.last_seq += 1
        check_message(message)
        if message["type"] == "event":
            self.events.append(message)
            self.all_events.append(message)
        else:
            self.responses[message["request_seq"]] = message
        return True

    def answer(self, seq):
        while seq not in self.responses:
            if not self.take():
                raise Failure(f"the server ended ({self.wait()}) before it answered {seq}: {self.errors.decode()}")
        return self.responses.pop(seq)

    def request(self, command, **arguments):
        """The body of the answer to a request that must succeed."""
        answer = self.answer(self.send(command, arguments))
        if not answer["success"]:
            raise Failure(f"{command} {arguments}: {answer['message']}")
        return answer.get("body", {})

    def refuse(self, command, **arguments):
        """The message of the answer to a request that must fail."""
        answer = self.answer(self.send(command, arguments))
        if answer["success"]:
            raise Failure(f"{command} {arguments}: succeeded: {answer}")
        return answer["message"]

    def event(self, name, **wanted):
        """Waits for the next event of that name with these members; earlier ones stay."""
        while True:
            for i, event in enumerate(self.events):
                body = event.get("body", {})
                if event["event"] == name and all(body.get(k) == v for k, v in wanted.items()):
                    del self.events[i]
                    return body
            if not self.take():
                raise Failure(f"the server ended before an event {name}: {self.errors.decode()}")

    def has_event(self, name):
        return any(event["event"] == name for event in self.events)

    def output(self, *categories):
        """All that was sent for the console so far."""
        return "".join(e["body"]["output"] for e in self.all_events if e["event"] == "output" and
                       (not categories or e["body"].get("category") in categories))

    def wait_output(self, text, *categories):
        while text not in self.output(*categories):
            if not self.take():
                raise Failure(f"no output {text!r}: {self.output()!r}")

    def initialize(self, **more):
        return self.request("initialize", adapterID="asyncdbg", clientID="test", linesStartAt1=True,
                            columnsStartAt1=True, pathFormat="path", supportsVariableType=True,
                            supportsVariablePaging=True, supportsMemoryReferences=True,
                            supportsProgressReporting=True, supportsInvalidatedEvent=True, **more)

    def start(self, how, breakpoints=None, functions=None, **arguments):
        """initialize, launch or attach, breakpoints by file and configurationDone."""
        self.initialize()
        self.request(how, **arguments)
        self.event("initialized")
        found = [self.request("setBreakpoints", source={"path": path},
                              breakpoints=[{"line": n} for n in lines])["breakpoints"]
                 for path, lines in (breakpoints or {}).items()]
        if functions:
            found.append(self.request("setFunctionBreakpoints",
                                      breakpoints=[{"name": f} for f in functions])["breakpoints"])
        self.request("configurationDone")
        return found

    def stack(self, thread):
        return self.request("stackTrace", threadId=thread)["stackFrames"]

    def locals(self, frame):
        """The variables of a frame's first scope, by name."""
        scope = self.request("scopes", frameId=frame["id"])["scopes"][0]
        return self.variables(scope["variablesReference"])

    def variables(self, reference, **more):
        listed = self.request("variables", variablesReference=reference, **more)["variables"]
        return {v["name"]: v for v in listed}

    def threads(self):
        return self.request("threads")["threads"]

    def end(self, **arguments):
        """disconnect, and the end of the server."""
        self.request("disconnect", **arguments)
        self.process.stdin.close()
        while self.take():
            pass
        self.wait()

    def wait(self):
        code = self.process.wait(LIMIT)
        for reader in self.readers:
            reader.join(LIMIT)
        return code
