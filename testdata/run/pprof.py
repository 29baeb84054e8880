"""Decodes profiles for pprof, by the field numbers of its profile.proto."""
import gzip


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return number, at


def fields(data):
    """The fields of a message, in their order: number, and an integer or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            value = data[at:at + length]
            if len(value) != length:
                raise ValueError("a field ends behind its message")
            at += length
        else:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value


def message(data, **repeated):
    """A message as a dict by field number; lists for the fields whose numbers are given."""
    result = {number: [] for number in repeated.values()}
    for number, value in fields(data):
        if number in result and isinstance(result[number], list):
            result[number].append(value)
        else:
            result[number] = value
    return result


class Pprof:
    """types: of samples; samples: (stack, values), outermost frame first, each (function, file, line)."""

    def __init__(self, path):
        with gzip.open(path) as f:
            data = f.read()
        top = {number: [] for number in range(1, 15)}
        for number, value in fields(data):
            top[number].append(value)
        self.strings = [text.decode() for text in top[6]]
        if self.strings[0] or len(set(self.strings)) != len(self.strings):
            raise ValueError("the table of strings does not begin with \"\", or has one twice")
        self.types = []
        for value in top[1]:
            kind = message(value)
            self.types.append((self.strings[kind[1]], self.strings[kind[2]]))
        functions = {}
        for value in top[5]:
            function = message(value)
            self.add(functions, function[1], (self.strings[function[2]], self.strings[function[4]]))
        locations = {}
        for value in top[4]:
            location = message(value)
            line = message(location[4])
            self.add(locations, location[1], (*functions[line[1]], line[2]))
        self.samples = []
        for value in top[2]:
            sample = message(value, location=1, value=2)
            if len(sample[2]) != len(self.types):
                raise ValueError("a sample has another number of values than there are types")
            self.samples.append(([locations[i] for i in reversed(sample[1])], sample[2]))
        self.time, self.duration = top[9][0], top[10][0]
        self.default = self.strings[top[14][0]]

    @staticmethod
    def add(table, number, value):
        if not number or number in table:
            raise ValueError("a number of zero, or twice")
        table[number] = value

    def total(self, kind):
        at = [name for name, _ in self.types].index(kind)
        return sum(values[at] for _, values in self.samples)
