"""A SentencePiece model that may use only some of its pieces.

SentencePiece splits a piece of the type UNUSED into smaller ones: by undoing merges (BPE) or by leaving
it out of the search (unigram). Its `SetVocabulary` sets that type, but the Python package has not
offered it since 0.2.2, so the type is set in the serialized model, a protocol buffer.
"""

from collections.abc import Container, Iterator

# Tags (field number × 8 + wire type) and values of sentencepiece_model.proto.
PIECES = 1 << 3 | 2  # of ModelProto, a SentencePiece each
PIECE, TYPE = 1 << 3 | 2, 3 << 3 | 0  # of SentencePiece, a string and an enumeration
NORMAL = bytes([1])
UNUSED = bytes([TYPE, 5])  # appended: of a field that is set twice, the last value holds


def restrict_pieces(model: bytes, allowed: Container[str]) -> bytes:
    """A serialized SentencePiece model that segments into allowed pieces and single characters only.

    Ids and scores stay as they were, and so do control symbols and user-defined symbols.
    """
    restricted = bytearray()
    for tag, value in fields(model):
        if tag == PIECES:
            piece = dict(fields(value))
            text = piece[PIECE].decode("utf-8")
            if piece.get(TYPE, NORMAL) == NORMAL and len(text) > 1 and text not in allowed:
                value += UNUSED
        restricted += varint(tag) + varint(len(value)) + value  # all fields of ModelProto have a length
    return bytes(restricted)


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The tag and the bytes of the value of every field of a message; those of a varint as it stands."""
    position = 0
    while position < len(message):
        tag, position = read_varint(message, position)
        number, after = read_varint(message, position) if tag & 7 != 5 else (4, position)  # 5: four bytes
        start, position = (position, after) if tag & 7 == 0 else (after, after + number)
        yield tag, message[start:position]


def read_varint(message: bytes, position: int) -> tuple[int, int]:
    """The number that starts at a position, seven bits a byte, lowest first; and where it ends."""
    value = shift = 0
    while message[position] > 0x7F:
        value |= (message[position] & 0x7F) << shift
        position, shift = position + 1, shift + 7
    return value | message[position] << shift, position + 1


def varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])
