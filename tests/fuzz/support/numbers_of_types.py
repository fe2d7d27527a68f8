"""What numbers of each type are, as ir/MEANING.md says.

A value is a Python int, bool or float; floats are exact members of their type.
"""

import math
import struct
from fractions import Fraction


class Fault(Exception):
    """What the language calls a fault: it has no result."""


# bits, whether there are negative ones
INTEGERS = {
    "i8": (8, True), "i16": (16, True), "i32": (32, True), "i64": (64, True),
    "u8": (8, False), "u16": (16, False), "u32": (32, False),
    "u64": (64, False), "int": (64, True),
}

# bits, digits with the leading one, least exponent of a normal number, greatest
# number, what is beyond it
FLOATS = {
    "f64": (64, 53, -1022, None, math.inf),
    "f32": (32, 24, -126, None, math.inf),
    "f16": (16, 11, -14, 65504.0, math.inf),
    "bf16": (16, 8, -126, math.ldexp(255, 120), math.inf),
    "f8e4m3": (8, 4, -6, 448.0, 448.0),
    "f8e5m2": (8, 3, -14, 57344.0, 57344.0),
}
STORED_ONLY = ("f8e4m3", "f8e5m2")


def bytes_of(kind):
    return 1 if kind == "bool" else (INTEGERS.get(kind) or FLOATS[kind])[0] // 8


def least(kind):
    bits, signed = INTEGERS[kind]
    return -(1 << bits - 1) if signed else 0


def greatest(kind):
    bits, signed = INTEGERS[kind]
    return (1 << bits - signed) - 1


# ---- integers


def wrap(kind, x):
    """An integer in a type: wrapped, but for `int`, where overflow is a fault."""
    bits, signed = INTEGERS[kind]
    if kind == "int":
        if not least(kind) <= x <= greatest(kind):
            raise Fault("integer overflow")
        return x
    x &= (1 << bits) - 1
    return x - (1 << bits) if signed and x >> bits - 1 else x


def divide(kind, a, b):
    """Quotient towards zero."""
    if b == 0 or (b == -1 and a == least(kind)):
        raise Fault("division")
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def remainder(kind, a, b):
    return a - divide(kind, a, b) * b


def divide_up(kind, a, b):
    if b <= 0 or a < 0:
        raise Fault("ceildiv")
    return wrap(kind, -(-a // b))


def checked_shift(kind, b):
    if not 0 <= b < INTEGERS[kind][0]:
        raise Fault("shift")
    return b


def shift_left(kind, a, b):
    return wrap(kind, a << checked_shift(kind, b))


def shift_right(kind, a, b):
    return a >> checked_shift(kind, b)


# ---- floating numbers


def rounded(kind, x):
    """The member of a floating type nearest to a Fraction, ties to even."""
    bits, digits, low, top, beyond = FLOATS[kind]
    if x == 0:
        return 0.0
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    last = max(exponent, low) - digits + 1
    count = round(size / Fraction(2) ** last)  # half to even
    top = top or math.ldexp((1 << digits) - 1, 1 - low - digits + 1)
    if count * Fraction(2) ** last > Fraction(top):
        result = beyond
    else:
        result = math.ldexp(count, last)
    return -result if x < 0 else result


def _packed(letter, x):
    try:
        return struct.unpack(letter, struct.pack(letter, x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def round_to(kind, x):
    """A double rounded to a type, once."""
    if kind == "f64" or x != x or x == 0:
        return x
    if kind == "f32":
        return _packed("<f", x)
    if kind == "f16":
        return _packed("<e", x)
    if math.isinf(x):
        return math.copysign(FLOATS[kind][4], x)
    return rounded(kind, Fraction(x))


def is_negative(x):
    return math.copysign(1.0, x) < 0


def lesser(a, b):
    """A number rather than a NaN; -0 is less than 0."""
    if a != a:
        return b
    if b != b:
        return a
    if a == b == 0:
        return a if is_negative(a) else b
    return a if a < b else b


def greater(a, b):
    return -lesser(-a, -b)


def divide_floats(a, b):
    if b != 0:
        return a / b
    if a != a or a == 0 or b != b:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def square_root(x):
    return math.nan if x < 0 else math.sqrt(x)


def fused(kind, a, b, c):
    """a * b + c, rounded once."""
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return a * b + c if exact == 0 else rounded(kind, exact)


def positive_part(x):
    return 0.0 if x < 0 else x


def to_whole(function):
    """floor, ceil and the like: what they change keeps its sign."""

    def whole(x):
        if not math.isfinite(x):
            return x
        return math.copysign(float(function(x)), x)

    return whole


floor, ceil = to_whole(math.floor), to_whole(math.ceil)
trunc, rint = to_whole(math.trunc), to_whole(round)


def remainder_of_floats(a, b):
    if a != a or b != b or math.isinf(a) or b == 0:
        return math.nan
    return math.fmod(a, b)


# ---- conversions


def convert(to, of, x):
    """A value of one type in another."""
    if to == of:
        return x
    if to == "bool":
        return x != 0
    if to in FLOATS:
        return round_to(to, x) if of in FLOATS else rounded(to, Fraction(int(x)))
    if of in FLOATS:
        if x != x:
            return 0
        if math.isinf(x):
            return greatest(to) if x > 0 else least(to)
        return max(least(to), min(greatest(to), math.trunc(x)))
    if to == "int" and not least(to) <= int(x) <= greatest(to):
        raise Fault("the value does not fit the index type")
    return wrap(to, int(x))


# ---- bytes, little-endian


def _narrow_bits(kind, x):
    """The bits of a bf16 or f8, which x is exactly."""
    bits, digits, low, top, _ = FLOATS[kind]
    sign = 1 << bits - 1 if is_negative(x) else 0
    field = digits - 1
    if x != x:
        return {"bf16": 0x7fff, "f8e4m3": 0x7f, "f8e5m2": 0x7f}[kind]
    if math.isinf(x):
        return sign | {"bf16": 0x7f80, "f8e5m2": 0x7c}[kind]
    size = abs(x)
    if size < math.ldexp(1.0, low):
        return sign | int(math.ldexp(size, field - low))
    exponent = math.frexp(size)[1] - 1
    fraction = int(math.ldexp(size, field - exponent)) - (1 << field)
    return sign | (exponent - low + 1) << field | fraction


def _narrow_value(kind, code):
    """The number that bits of a bf16 or f8 stand for."""
    bits, digits, low, top, _ = FLOATS[kind]
    field = digits - 1
    code, sign = code & (1 << bits - 1) - 1, -1.0 if code >> bits - 1 else 1.0
    exponent, fraction = code >> field, code & (1 << field) - 1
    if exponent == 0:
        return sign * math.ldexp(fraction, low - field)
    value = math.ldexp(fraction + (1 << field), exponent - 1 + low - field)
    if value > top:
        return math.nan if fraction or kind == "f8e4m3" else sign * math.inf
    return sign * value


_LETTERS = {"f64": "<d", "f32": "<f", "f16": "<e"}


def encode(kind, values):
    """Elements as hexadecimal digits."""
    size = bytes_of(kind)
    if kind in _LETTERS:
        return b"".join(struct.pack(_LETTERS[kind], x) for x in values).hex()
    codes = [_narrow_bits(kind, x) if kind in FLOATS else int(x) % (1 << 8 * size)
             for x in values]
    return b"".join(code.to_bytes(size, "little") for code in codes).hex()


def decode(kind, digits):
    """The elements that digits stand for."""
    data, size = bytes.fromhex(digits), bytes_of(kind)
    if kind in _LETTERS:
        return [x[0] for x in struct.iter_unpack(_LETTERS[kind], data)]
    codes = [int.from_bytes(data[i:i + size], "little")
             for i in range(0, len(data), size)]
    if kind == "bool":
        return [code != 0 for code in codes]
    if kind in FLOATS:
        return [_narrow_value(kind, code) for code in codes]
    return [code - (1 << 8 * size) if INTEGERS[kind][1] and code >> 8 * size - 1
            else code for code in codes]


def same(kind, a, b):
    """Whether two elements are the same; one NaN is as good as another."""
    if kind not in FLOATS:
        return a == b
    return (a != a and b != b) or (a == b and is_negative(a) == is_negative(b))
