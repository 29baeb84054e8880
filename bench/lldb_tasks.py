"""Lists the tasks of a tokio runtime from within lldb, by the same list that asyncdbg walks.

usage: lldb --batch -p PID -o 'command script import lldb_tasks.py'

lldb knows the layout of Rust's structures. It evaluates no thread-local of a Rust program, so the
place of tokio's context is computed from the symbol table and the thread pointer; and it gives
functions the demangled names of their symbols, which have no generics, so that nothing leads from a
task to the type of its future: only address, state and id are listed. Knows current versions of
tokio only, takes the first runtime that it finds, and checks nothing. Prints `tasks: N` at the end.
"""

import struct

import lldb

MAX_DEPTH = 24
HANDLE = "alloc::sync::ArcInner<tokio::runtime::scheduler::multi_thread::handle::Handle>"
STORAGE = "std::sys::thread_local::native::eager::Storage<tokio::runtime::context::Context>"


def offset_in(kind, member):
    """lldb puts the payload of a variant behind the discriminant; both begin with the enum."""
    return 0 if kind.GetName().endswith("$Variant") else member.GetOffsetInBytes()


def find_member(kind, wanted, depth=0):
    """Offset and type of the first member, at any depth, for which wanted(name, type) holds."""
    for i in range(kind.GetNumberOfFields()):
        member = kind.GetFieldAtIndex(i)
        if wanted(member.GetName(), member.GetType()):
            return offset_in(kind, member), member.GetType()
    for i in range(kind.GetNumberOfFields() if depth < MAX_DEPTH else 0):
        member = kind.GetFieldAtIndex(i)
        found = find_member(member.GetType(), wanted, depth + 1)
        if found:
            return offset_in(kind, member) + found[0], found[1]
    return None


def named(name):
    return lambda member, _: member == name


def points_to(name):
    return lambda _, kind: kind.IsPointerType() and kind.GetPointeeType().GetName() == name


def section_table(file):
    file.seek(0)
    header = struct.unpack("<16sHHIQQQIHHHHHH", file.read(64))
    file.seek(header[6])
    return [struct.unpack("<IIQQQQIIQQ", file.read(64)) for _ in range(header[12])], header


def thread_local_context(path):
    """Distance of tokio's context from the thread pointer (x86-64)."""
    with open(path, "rb") as file:
        sections, header = section_table(file)
        file.seek(header[5])
        segments = [struct.unpack("<IIQQQQQQ", file.read(56)) for _ in range(header[10])]
        block = next(segment for segment in segments if segment[0] == 7)
        symbols = next(section for section in sections if section[1] == 2)
        names = sections[symbols[6]]
        file.seek(names[4])
        strings = file.read(names[5])
        file.seek(symbols[4])
        for name, info, _, _, value, _ in struct.iter_unpack("<IBBHQQ", file.read(symbols[5])):
            if info & 15 != 6:
                continue
            text = strings[name : strings.index(b"\0", name)]
            if b"7runtime7context7CONTEXT" in text:
                return value - (block[6] + block[7] - 1) // block[7] * block[7]
    raise RuntimeError("no symbol of tokio's context")


class Walk:
    def __init__(self, debugger):
        self.target = debugger.GetSelectedTarget()
        self.process = self.target.GetProcess()

    def word(self, address):
        error = lldb.SBError()
        value = self.process.ReadPointerFromMemory(address, error)
        if error.Fail():
            raise RuntimeError(error.GetCString())
        return value

    def type(self, name):
        return self.target.FindFirstType(name)

    def handle(self):
        distance = thread_local_context(self.target.GetExecutable().fullpath)
        offset, arc = find_member(self.type(STORAGE), points_to(HANDLE))
        for i in range(self.process.GetNumThreads()):
            frame = self.process.GetThreadAtIndex(i).GetFrameAtIndex(0)
            thread_pointer = frame.FindRegister("fs_base").GetValueAsUnsigned()
            address = self.word(thread_pointer + distance + offset)
            if address:
                return address, arc.GetPointeeType()
        raise RuntimeError("no thread is in a runtime")

    def heads(self):
        address, handle = self.handle()
        offset, lists = find_member(handle, named("lists"))
        first, length = self.word(address + offset), self.word(address + offset + 8)
        _, data = find_member(lists, named("data_ptr"))
        element = data.GetPointeeType()
        head, _ = find_member(element, named("head"))
        for i in range(length):
            yield self.word(first + i * element.GetByteSize() + head)

    def run(self):
        header = self.type("tokio::runtime::task::core::Header")
        vtable_type = self.type("tokio::runtime::task::raw::Vtable")
        at_vtable, _ = find_member(header, named("vtable"))
        at_state, _ = find_member(header, named("state"))
        at_trailer, _ = find_member(vtable_type, named("trailer_offset"))
        at_id, _ = find_member(vtable_type, named("id_offset"))
        owned, links = find_member(self.type("tokio::runtime::task::core::Trailer"), named("owned"))
        at_next, _ = find_member(links, named("next"))
        tasks = 0
        for address in self.heads():
            while address:
                vtable = self.word(address + at_vtable)
                task_id = self.word(address + self.word(vtable + at_id))
                print(f"task {address:#x} id {task_id} state {self.word(address + at_state):#x}")
                tasks += 1
                address = self.word(address + self.word(vtable + at_trailer) + owned + at_next)
        print(f"tasks: {tasks}")


def __lldb_init_module(debugger, _):
    Walk(debugger).run()
