"""Lists the tasks of a tokio runtime from within gdb, by the same list that asyncdbg walks.

usage: gdb -batch -p PID -x gdb_tasks.py

For each task: its id, the future it was spawned with, and the chain of coroutines that it awaits,
through boxes. Prints `tasks: N` and `chains: N frames` at the end. It knows current versions of
tokio and rustc only, takes the first runtime that it finds, and checks nothing.
"""

import gdb

CONTEXT = "tokio::runtime::context::CONTEXT::{constant#0}::{closure#0}::__RUST_STD_INTERNAL_VAL"
WRAPPERS = ("val", "value", "__0", "data", "data_ptr", "pointer", "ptr", "inner")
MAX_FRAMES = 64

cells = {}
futures = {}


def fields(value):
    whole = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
    return value.type.fields() if value.type.code in whole else []


def word(address):
    memory = gdb.selected_inferior().read_memory(address, 8)
    return int.from_bytes(bytes(memory), "little")


def peel(value, stop):
    """Goes down through wrappers until the name of the type starts with `stop`."""
    for _ in range(32):
        if (value.type.name or "").startswith(stop):
            return value
        if value.type.code == gdb.TYPE_CODE_PTR:
            value = value.dereference()
            continue
        members = fields(value)
        if not members:
            return None
        # Of an enum, the last one is the variant that it is.
        named = {field.name: field for field in members}
        wrapped = (named[name] for name in WRAPPERS if name in named)
        value = value[next(wrapped, members[-1])]
    return None


def find_handle():
    """The handle of the first thread that is in a runtime of several threads."""
    symbol = gdb.lookup_global_symbol(CONTEXT) or gdb.lookup_static_symbol(CONTEXT)
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        context = peel(symbol.value(), "tokio::runtime::context::Context")
        handle = context["current"]["handle"]["value"]["value"]
        try:
            arc = peel(handle, "alloc::sync::ArcInner<")
        except gdb.error:
            continue
        if arc is not None:
            return arc["data"]
    raise gdb.GdbError("no thread is in a runtime")


def heads(handle):
    lists = handle["shared"]["owned"]["list"]["lists"]
    first, length = lists["data_ptr"], int(lists["length"])
    for i in range(length):
        head = peel((first + i).dereference(), "tokio::util::linked_list::LinkedList<")["head"]
        address = word(int(head.address))
        if address:
            yield address


def function_name(pc):
    """Of the function that has code there, not of one that is inlined into it."""
    block = gdb.block_for_pc(pc)
    name = None
    while block is not None and not block.is_static:
        name = block.function.name if block.function else name
        block = block.superblock
    if name is None:
        raise gdb.GdbError(f"no function at {pc:#x}")
    return name


def type_arguments(function):
    """What is between the outermost < and the first comma at that depth."""
    start = function.index("<") + 1
    depth = 0
    for i, char in enumerate(function[start:], start):
        if char in "<([{":
            depth += 1
        elif char in ">)]}" and function[i - 1] != "-":
            depth -= 1
        if depth < 0 or (depth == 0 and char == ","):
            return function[start:i], function[start:-1]
    return None, None


def cell_type(poll):
    if poll not in cells:
        future, arguments = type_arguments(function_name(poll))
        cell = gdb.lookup_type(f"tokio::runtime::task::core::Cell<{arguments}>")
        cells[poll] = (future, cell)
    return cells[poll]


def boxed(value):
    """What a box leads to, or None."""
    names = [field.name for field in fields(value)]
    if "__pointer" in names or names == ["pointer"]:
        inside = value[names[0]]
        if inside.type.code == gdb.TYPE_CODE_PTR:
            return inside.dereference()
        return boxed(inside)
    if "pointer" in names and "vtable" in names:
        vtable = int(value["vtable"].cast(gdb.lookup_type("usize")))
        if vtable not in futures:
            name = function_name(word(vtable + 24))
            futures[vtable] = gdb.lookup_type(
                name.replace("::{async_fn#", "::{async_fn_env#").replace(
                    "::{async_block#", "::{async_block_env#"
                )
            )
        return value["pointer"].cast(futures[vtable].pointer()).dereference()
    return None


def chain(future):
    """The lines at which the coroutines of a task are suspended."""
    lines = []
    while len(lines) < MAX_FRAMES:
        if future.type.code == gdb.TYPE_CODE_PTR:
            future = future.dereference()
        inner = boxed(future)
        if inner is not None:
            future = inner
            continue
        variant = fields(future)[-1] if fields(future) else None
        state = str(variant.type).rsplit("::", 1)[-1] if variant else ""
        if not state.startswith("Suspend"):
            lines.append(str(future.type))
            break
        lines.append(f"{future.type} {state}")
        future = future[variant]
        if "__awaitee" not in [field.name for field in fields(future)]:
            break
        future = future["__awaitee"]
    return lines


def walk():
    header = gdb.lookup_type("tokio::runtime::task::core::Header").pointer()
    trailer = gdb.lookup_type("tokio::runtime::task::core::Trailer").pointer()
    usize = gdb.lookup_type("usize")
    tasks = frames = failed = 0
    for address in heads(find_handle()):
        while address:
            task = gdb.Value(address).cast(header)
            vtable = task["vtable"].dereference()
            future, cell = cell_type(int(vtable["poll"].cast(usize)))
            stage = gdb.Value(address).cast(cell.pointer())["core"]["stage"]
            try:
                stage = peel(stage, "tokio::runtime::task::core::Stage<")
                running = stage[fields(stage)[-1]]
                lines = chain(running[fields(running)[-1]])
            except gdb.error:
                lines = []
                failed += 1
            print(f"task {address:#x} {future}")
            for line in lines:
                print(f"  {line}")
            tasks += 1
            frames += len(lines)
            owned = gdb.Value(address + int(vtable["trailer_offset"])).cast(trailer)["owned"]
            # The link to the next one is the second of two words.
            address = word(int(owned.address) + 8)
    print(f"tasks: {tasks}\nchains: {frames} frames, {failed} unreadable")


gdb.execute("set language rust")
gdb.execute("set pagination off")
walk()
