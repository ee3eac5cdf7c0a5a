"""The one JSON codec: inputs and facts as they stand in the journal, on feeds and in scripts.

Fields come in the order in which the types declare them, without spaces, so the same value is always the same
bytes: verification compares bytes.
"""

from collections.abc import Sequence

import msgspec

from shoe_controller.session.facts import AnyFact
from shoe_controller.session.inputs import AnyInput

_encoder = msgspec.json.Encoder()
_input_decoder: msgspec.json.Decoder[AnyInput] = msgspec.json.Decoder(AnyInput)
_fact_decoder: msgspec.json.Decoder[AnyFact] = msgspec.json.Decoder(AnyFact)
_facts_decoder: msgspec.json.Decoder[list[AnyFact]] = msgspec.json.Decoder(list[AnyFact])
_split_decoder: msgspec.json.Decoder[list[msgspec.Raw]] = msgspec.json.Decoder(list[msgspec.Raw])

# Bound methods of the codecs themselves: verification calls each of these millions of times.
encode_input = _encoder.encode
decode_input = _input_decoder.decode
encode_fact = _encoder.encode
decode_fact = _fact_decoder.decode
encode_facts = _encoder.encode
encode_lines = _encoder.encode_lines
decode_facts = _facts_decoder.decode


def join_facts(facts: Sequence[bytes]) -> bytes:
    """Return facts that are JSON already as one JSON array, the same bytes as `encode_facts` of the values."""
    return b"[" + b",".join(facts) + b"]"


def split_facts(array: bytes) -> list[bytes]:
    """Return the facts of a JSON array, each as the bytes it has there."""
    return [bytes(fact) for fact in _split_decoder.decode(array)]


def fact_type(fact: bytes) -> str:
    """Return the type of a fact without decoding it; `type` is always the first field."""
    return fact[9 : fact.index(b'"', 9)].decode()
