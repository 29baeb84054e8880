#!/usr/bin/env python3
"""The lines at which `next` of lldb stops, as a JSON list of [line, address of the code].

usage: lldb_stops.py PROGRAM SCENARIO FILE LINE STEPS

It begins where FILE:LINE is reached first, and ends with the function. `import lldb` must work, with PYTHONPATH where
the module is elsewhere, and LLDB_DEBUGSERVER_PATH must name lldb-server where lldb does not find it: the package of
Debian 12 needs both, and a link in its module that leads to liblldb. Exit status 77 where there is no module.
"""
import json
import signal
import sys

try:
    import lldb
except ImportError:
    print("skipped: there is no module lldb", file=sys.stderr)
    sys.exit(77)


def stops_of(program, scenario, file, line, steps):
    debugger = lldb.SBDebugger.Create()
    debugger.SetAsync(False)
    target = debugger.CreateTarget(program)
    target.BreakpointCreateByLocation(file, line).SetOneShot(True)
    info = lldb.SBLaunchInfo([scenario])
    for stream in range(3):
        info.AddOpenFileAction(stream, "/dev/null", stream == 0, stream > 0)
    process = target.Launch(info, lldb.SBError())
    signals = process.GetUnixSignals()
    for i in range(signals.GetNumSignals()):
        number = signals.GetSignalAtIndex(i)
        signals.SetShouldStop(number, number == signal.SIGTRAP)
    thread = next((t for t in process if t.GetStopReason() == lldb.eStopReasonBreakpoint), None)
    name = thread and thread.GetFrameAtIndex(0).GetFunctionName()
    stops = []
    while thread and len(stops) < steps and process.GetState() == lldb.eStateStopped:
        frame = thread.GetFrameAtIndex(0)
        if frame.GetFunctionName() != name:
            break
        stops.append([frame.GetLineEntry().GetLine(), frame.GetPC()])
        thread.StepOver()
    process.Kill()
    return stops


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    print(json.dumps(stops_of(*sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5]))))
