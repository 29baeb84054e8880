"""Cores and executables that are changed in place and put back: for run_hostile.sh."""

import struct

PT_LOAD = 1
PF_W = 2


class Elf:
    """The bytes of an ELF file by address; changes go to the file and can be undone."""

    def __init__(self, path):
        self.file = open(path, "r+b")
        self.path = path
        self.undo_log = []
        header = self.at(0, 64)
        table, self.sections_at = struct.unpack_from("<QQ", header, 32)
        size, count = struct.unpack_from("<HH", header, 54)
        self.section_size, self.section_count, self.names = struct.unpack_from("<HHH", header, 58)
        self.segments = []
        for i in range(count):
            kind, flags, offset, addr, _, filesz = struct.unpack_from(
                "<IIQQQQ", self.at(table + i * size, size))
            if kind == PT_LOAD and filesz:
                self.segments.append((addr, addr + filesz, offset, flags))

    def at(self, offset, size):
        self.file.seek(offset)
        return self.file.read(size)

    def size(self):
        return self.file.seek(0, 2)

    def put(self, offset, data):
        self.undo_log.append((offset, self.at(offset, len(data))))
        self.file.seek(offset)
        self.file.write(data)
        self.file.flush()

    def undo(self):
        for offset, data in reversed(self.undo_log):
            self.file.seek(offset)
            self.file.write(data)
        self.file.flush()
        self.undo_log = []

    def offset_of(self, addr):
        for start, end, offset, _ in self.segments:
            if start <= addr < end:
                return offset + addr - start
        return None

    def segment_of(self, addr):
        return next((s for s in self.segments if s[0] <= addr < s[1]), None)

    def writable(self):
        return [s for s in self.segments if s[3] & PF_W]

    def write(self, addr, value, size=8):
        offset = self.offset_of(addr)
        assert offset is not None, hex(addr)
        self.put(offset, (value & ((1 << size * 8) - 1)).to_bytes(size, "little"))

    def sections(self):
        """Name -> (offset, size) in the file."""
        ret = {}
        headers = [struct.unpack_from("<IIQQQQ", self.at(self.sections_at + i * self.section_size,
                                                         self.section_size))
                   for i in range(self.section_count)]
        names = self.at(headers[self.names][4], headers[self.names][5])
        for name, kind, _, _, offset, size in headers:
            text = names[name:names.index(b"\0", name)].decode()
            if kind != 8 and size:
                ret[text] = (offset, size)
        return ret


class Memory:
    """What the core holds, else what the executable at its link-time addresses holds."""

    def __init__(self, core, exe):
        self.core = core
        self.exe = exe

    def read(self, addr, size=8):
        for elf in self.core, self.exe:
            offset = elf.offset_of(addr)
            if offset is not None:
                return int.from_bytes(elf.at(offset, size), "little")
        raise KeyError(hex(addr))
