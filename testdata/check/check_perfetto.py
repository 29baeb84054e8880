#!/usr/bin/env python3
"""Checks traces with the protobuf classes of Perfetto's own package.

usage: check_perfetto.py [--partial] [--open-flows N] [--max-bytes N] [--json] TRACE...
       check_perfetto.py --self-test    each rule must fail on a trace that breaks it

Needs PyPI's package `perfetto`. What is checked of each trace:

- it is whole packets, without a field or value that the classes do not know;
- each packet is of a sequence, whose first packet clears its state, and says that it needs that
  state where it uses it;
- the clock of each timestamp is known: a snapshot before it has it, and the trace's own clock;
- interned strings have been defined when they are used, one text a number;
- tracks are described before their events, once, below parents that are; there is one process; what
  tracks of numbers have are numbers, and no others have any;
- slices are balanced on each track in the order of time;
- flows have both ends, one each, and do not go back in time.

--partial       what follows the end of the file is missing: slices and flows may be open
--open-flows N  so many flows may have no end: who was woken at the end of a trace is not polled in it
--max-bytes N   an event may take so many bytes of the file, on average
--json          print counts as one JSON object a trace: of slices, instants, numbers and values by name, too

Perfetto's own importer is not part of this: it may have rules that these classes do not know.
"""

import argparse
import collections
import json
import sys

try:
    from google.protobuf.unknown_fields import UnknownFieldSet
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb
except ImportError as error:
    print(f"no package perfetto: {error}", file=sys.stderr)
    sys.exit(77)

CLEARED = pb.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
NEEDS = pb.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
BEGIN, END = pb.TrackEvent.TYPE_SLICE_BEGIN, pb.TrackEvent.TYPE_SLICE_END
INSTANT, COUNTER = pb.TrackEvent.TYPE_INSTANT, pb.TrackEvent.TYPE_COUNTER
MOST_PROBLEMS = 20


def packets(data):
    """The packets of a trace, each as its bytes; raises ValueError where there is something else."""
    at = 0
    while at < len(data):
        start, size, shift = at, 0, 0
        if data[at] != 1 << 3 | 2:
            raise ValueError(f"no packet at {start}")
        while True:
            at += 1
            if at >= len(data):
                raise ValueError(f"the packet at {start} is cut off")
            size |= (data[at] & 0x7F) << shift
            shift += 7
            if data[at] < 0x80:
                break
        at += 1
        if size > len(data) - at:
            raise ValueError(f"the packet at {start} is cut off")
        yield bytes(data[at : at + size])
        at += size


def unknown_fields(message):
    """Numbers of fields that the classes do not know, in nested messages too."""
    found = [field.field_number for field in UnknownFieldSet(message)]
    for field, value in message.ListFields():
        if field.type != field.TYPE_MESSAGE:
            continue
        for nested in [value] if hasattr(value, "ListFields") else value:
            found += unknown_fields(nested)
    return found


class Sequence:
    """What the packets of one sequence refer to."""

    def __init__(self):
        self.cleared = False
        self.clear()

    def clear(self):
        self.clock = None
        self.interned = collections.defaultdict(dict)


class Checker:
    def __init__(self):
        self.problems = []
        self.sequences = collections.defaultdict(Sequence)
        self.clocks = set()
        self.tracks = {}
        self.events = collections.defaultdict(list)  # by track: time, type
        self.flows = collections.defaultdict(lambda: [[], []])  # times of starts and ends
        self.counts = collections.Counter()
        self.names = collections.defaultdict(collections.Counter)
        self.number = 0

    def problem(self, text):
        self.problems.append(f"packet {self.number}: {text}")

    def packet(self, packet):
        self.number += 1
        self.counts["packets"] += 1
        for field in unknown_fields(packet):
            self.problem(f"unknown field {field}")
        if not packet.trusted_packet_sequence_id:
            self.problem("it is of no sequence")
        sequence = self.sequences[packet.trusted_packet_sequence_id]
        if packet.sequence_flags & CLEARED:
            sequence.cleared = True
            sequence.clear()
        if not sequence.cleared:
            self.problem("the state of its sequence was not cleared")
        if packet.HasField("trace_packet_defaults"):
            sequence.clock = packet.trace_packet_defaults.timestamp_clock_id or None
        self.intern(sequence, packet.interned_data)
        if packet.HasField("clock_snapshot"):
            self.snapshot(packet.clock_snapshot)
        if packet.HasField("timestamp"):
            self.timestamp(sequence, packet)
        if packet.HasField("track_descriptor"):
            self.track(packet.track_descriptor)
        if packet.HasField("track_event"):
            self.event(sequence, packet)

    def snapshot(self, snapshot):
        clocks = {clock.clock_id for clock in snapshot.clocks}
        self.clocks |= clocks
        if snapshot.primary_trace_clock not in clocks:
            self.problem(f"the snapshot lacks the primary clock {snapshot.primary_trace_clock}")

    def timestamp(self, sequence, packet):
        clock = packet.timestamp_clock_id or sequence.clock or pb.BUILTIN_CLOCK_BOOTTIME
        if clock not in self.clocks:
            self.problem(f"its clock {clock} is in no snapshot")
        if sequence.clock and not packet.timestamp_clock_id:
            self.needs(packet, "the clock of its sequence")

    def needs(self, packet, what):
        if not packet.sequence_flags & (CLEARED | NEEDS):
            self.problem(f"it uses {what} and does not say that it needs the state")

    def intern(self, sequence, data):
        for field, entries in data.ListFields():
            table = sequence.interned[field.name]
            for entry in entries:
                text = entry.str if hasattr(entry, "str") else entry.name
                if not entry.iid:
                    self.problem(f"{field.name} has no number")
                if table.setdefault(entry.iid, text) != text:
                    self.problem(f"{field.name} {entry.iid} is defined twice")

    def interned(self, sequence, packet, table, iid):
        self.needs(packet, table)
        if iid not in sequence.interned[table]:
            self.problem(f"{table} {iid} is not defined")
        return sequence.interned[table].get(iid, "?")

    def track(self, track):
        if not track.uuid or track.uuid in self.tracks:
            self.problem(f"track {track.uuid} cannot be described, or twice")
        if track.HasField("parent_uuid") and track.parent_uuid not in self.tracks:
            self.problem(f"the parent {track.parent_uuid} of track {track.uuid} is not described")
        pids = {track.process.pid} if track.HasField("process") else set()
        pids |= {track.thread.pid} if track.HasField("thread") else set()
        pids |= {other.process.pid for other in self.tracks.values() if other.HasField("process")}
        if len(pids) > 1:
            self.problem(f"track {track.uuid} is of another process")
        self.tracks[track.uuid] = track

    def event(self, sequence, packet):
        event = packet.track_event
        if event.type not in (BEGIN, END, INSTANT, COUNTER):
            self.problem(f"an event of type {event.type}")
        if not packet.HasField("timestamp"):
            self.problem("an event without a time")
        if event.track_uuid not in self.tracks:
            self.problem(f"track {event.track_uuid} is not described")
        else:
            is_counter = self.tracks[event.track_uuid].HasField("counter")
            if is_counter != (event.type == COUNTER) or is_counter != event.HasField("counter_value"):
                self.problem(f"track {event.track_uuid}: numbers and other events on one track")
            if is_counter:
                self.names["counter"][self.tracks[event.track_uuid].name] += 1
        kind = pb.TrackEvent.Type.Name(event.type)[len("TYPE_") :].lower()
        self.counts["events"] += 1
        self.counts[kind] += 1
        self.events[event.track_uuid].append((packet.timestamp, event.type))
        self.name(sequence, packet, kind)
        for ids, end in ((event.flow_ids, 0), (event.terminating_flow_ids, 1)):
            for flow in ids:
                self.flows[flow][end].append(packet.timestamp)
            if ids and event.type not in (BEGIN, INSTANT):
                self.problem("a flow of an event that is no slice")

    def name(self, sequence, packet, kind):
        event, name = packet.track_event, None
        if event.name_iid:
            name = self.interned(sequence, packet, "event_names", event.name_iid)
        elif event.HasField("name"):
            name = event.name
        elif event.type in (BEGIN, INSTANT):
            self.problem("an event without a name")
        if name is not None:
            self.names[kind][name] += 1
        for value in event.debug_annotations:
            key = value.name
            if value.name_iid:
                key = self.interned(sequence, packet, "debug_annotation_names", value.name_iid)
            if value.string_value_iid:
                self.interned(
                    sequence, packet, "debug_annotation_string_values", value.string_value_iid
                )
            elif value.WhichOneof("value") is None:
                self.problem(f"the value {key} is missing")
            if not key:
                self.problem("a value without a name")
            self.names["values"][key] += 1

    def finish(self, options):
        if not self.counts["packets"]:
            self.problems.append("it is empty")
        for track, events in self.events.items():
            self.slices(track, events, options.partial)
        for flow, (starts, ends) in self.flows.items():
            if len(starts) != 1 or len(ends) > 1:
                self.problems.append(f"flow {flow} has {len(starts)} starts, {len(ends)} ends")
            elif ends and ends[0] < starts[0]:
                self.problems.append(f"flow {flow} goes back in time")
            self.counts["flows" if ends else "open_flows"] += 1
        if not options.partial and self.counts["open_flows"] > options.open_flows:
            self.problems.append(f"{self.counts['open_flows']} flows have no end")

    def slices(self, track, events, partial):
        depth = 0
        for _, kind in sorted(events, key=lambda event: event[0]):
            depth += (kind == BEGIN) - (kind == END)
            if depth < 0:
                self.problems.append(f"track {track}: an end without a begin")
                return
        if depth and not partial:
            self.problems.append(f"track {track}: {depth} slices do not end")


def check(data, options):
    """The problems of a trace, and its counts."""
    checker = Checker()
    try:
        for packet in packets(data):
            checker.packet(pb.TracePacket.FromString(packet))
    except Exception as error:  # the classes' own error has another base in each version
        checker.problems.append(f"after {checker.number} packets: {error}")
    checker.finish(options)
    counts = dict(checker.counts, bytes=len(data), tracks=len(checker.tracks))
    if options.max_bytes and len(data) > options.max_bytes * max(counts.get("events", 0), 1):
        checker.problems.append(f"{len(data)} bytes for {counts.get('events', 0)} events")
    return checker.problems, counts, checker.names


def self_test_trace():
    """A trace in which all is right, as a list of packets."""
    trace = pb.Trace()

    def add(flags=NEEDS, **fields):
        packet = trace.packet.add(trusted_packet_sequence_id=1, sequence_flags=flags)
        for name, value in fields.items():
            getattr(packet, name).MergeFrom(value)
        return packet

    clocks = [pb.ClockSnapshot.Clock(clock_id=id, timestamp=1000) for id in (1, 3, 6)]
    add(
        CLEARED,
        clock_snapshot=pb.ClockSnapshot(clocks=clocks, primary_trace_clock=3),
        trace_packet_defaults=pb.TracePacketDefaults(timestamp_clock_id=3),
    )
    add(track_descriptor=pb.TrackDescriptor(uuid=1, process=pb.ProcessDescriptor(pid=7)))
    thread = pb.ThreadDescriptor(pid=7, tid=8)
    add(track_descriptor=pb.TrackDescriptor(uuid=2, parent_uuid=1, thread=thread))
    counter = pb.CounterDescriptor()
    add(track_descriptor=pb.TrackDescriptor(uuid=3, parent_uuid=1, name="n", counter=counter))
    names = pb.InternedData(
        event_names=[pb.EventName(iid=1, name="poll")],
        debug_annotation_names=[pb.DebugAnnotationName(iid=1, name="place")],
        debug_annotation_string_values=[pb.InternedString(iid=1, str=b"here")],
    )
    value = pb.DebugAnnotation(name_iid=1, string_value_iid=1)
    begin = pb.TrackEvent(type=BEGIN, track_uuid=2, name_iid=1, flow_ids=[5])
    add(interned_data=names, track_event=begin).timestamp = 2000
    end = pb.TrackEvent(type=END, track_uuid=2, debug_annotations=[value])
    add(track_event=end).timestamp = 3000
    wake = pb.TrackEvent(type=INSTANT, track_uuid=2, name_iid=1, terminating_flow_ids=[5])
    add(track_event=wake).timestamp = 3000
    number = pb.TrackEvent(type=COUNTER, track_uuid=3, counter_value=4)
    add(track_event=number).timestamp = 3000
    return trace


def broken_traces():
    """What is wrong, and how a trace of self_test_trace() becomes so."""

    def drop(index):
        return lambda trace: trace.packet.pop(index)

    def change(index, path, value):
        def apply(trace):
            *path_in, last = path.split(".")
            message = trace.packet[index]
            for name in path_in:
                message = getattr(message, name)
            setattr(message, last, value)

        return apply

    return {
        "no state was cleared": change(0, "sequence_flags", NEEDS),
        "no sequence": change(5, "trusted_packet_sequence_id", 0),
        "another sequence": change(5, "trusted_packet_sequence_id", 2),
        "no snapshot": lambda trace: trace.packet[0].ClearField("clock_snapshot"),
        "an unknown clock": change(5, "timestamp_clock_id", 9),
        "an unknown default clock": change(0, "trace_packet_defaults.timestamp_clock_id", 9),
        "an unknown primary clock": change(0, "clock_snapshot.primary_trace_clock", 9),
        "no need of the state": change(5, "sequence_flags", 0),
        "no interned data": lambda trace: trace.packet[4].ClearField("interned_data"),
        "state cleared meanwhile": change(5, "sequence_flags", CLEARED),
        "a number for two names": lambda trace: trace.packet[5].interned_data.event_names.add(
            iid=1, name="other"
        ),
        "no track": drop(2),
        "no parent": drop(1),
        "a track twice": change(2, "track_descriptor.uuid", 1),
        "another process": change(2, "track_descriptor.thread.pid", 9),
        "a number on a thread": change(7, "track_event.track_uuid", 2),
        "an instant of a counter": change(6, "track_event.track_uuid", 3),
        "no end": drop(5),
        "no begin": drop(4),
        "an end before its begin": change(5, "timestamp", 1500),
        "a flow without a start": lambda trace: trace.packet[4].track_event.ClearField("flow_ids"),
        "a flow without an end": drop(6),
        "a flow back in time": change(6, "timestamp", 1500),
        "a flow with two starts": lambda trace: trace.packet[4].track_event.flow_ids.append(5),
        "no name": lambda trace: trace.packet[6].track_event.ClearField("name_iid"),
        "no value": lambda trace: trace.packet[5].track_event.debug_annotations[0].ClearField(
            "string_value_iid"
        ),
        "no time": lambda trace: trace.packet[6].ClearField("timestamp"),
        "an unknown field": lambda trace: trace.packet[6].MergeFromString(b"\xf8\x7f\x01"),
        "nothing": lambda trace: trace.ClearField("packet"),
    }


def self_test(options):
    failures = []
    good = self_test_trace().SerializeToString()
    problems, counts, _ = check(good, options)
    if problems or counts["events"] != 4 or counts["flows"] != 1:
        failures.append(f"the good trace: {problems}, {counts}")
    for name, change in broken_traces().items():
        trace = self_test_trace()
        change(trace)
        if not check(trace.SerializeToString(), options)[0]:
            failures.append(f"not noticed: {name}")
    for name, data in (("a cut packet", good[:-1]), ("no packet", good + b"\x10\x01")):
        if not check(data, options)[0]:
            failures.append(f"not noticed: {name}")
    print("\n".join(failures) or "each broken rule was noticed")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--partial", action="store_true")
    parser.add_argument("--open-flows", type=int, default=0)
    parser.add_argument("--max-bytes", type=int)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("traces", nargs="*")
    options = parser.parse_args()
    if options.self_test:
        return self_test(options)
    status = 0
    for path in options.traces:
        with open(path, "rb") as file:
            problems, counts, names = check(file.read(), options)
        for problem in problems[:MOST_PROBLEMS]:
            print(f"{path}: {problem}", file=sys.stderr)
        if problems:
            print(f"{path}: {len(problems)} problems", file=sys.stderr)
            status = 1
        if options.json:
            print(json.dumps({"path": path, **counts, "names": names}))
        else:
            print(f"{path}: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    return status


if __name__ == "__main__":
    sys.exit(main())
