import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoe_controller.config.lines import key_lines, line_of

TEXT = '''\
# comment = 1
top = 1
"quoted key" = 2
'single "quoted"' = 3

[table] # [not.a.table]
site = "a # not a comment"
list = [
    "x", # ] not the end
    { y = 1 },
]
after = 1
text = """
inside = 1
[inside]
"""
raw = \'\'\'
also = "
\'\'\'
end.deep . deeper = 1

[ a . "b.c" ]
x = { inner = 1, other = { z = 2 } }

[[many]]
one = 1
[[many]]
one = 2
[many.sub]
two = 2
[[many.subs]]
three = 3
'''


@pytest.mark.parametrize(
    "path, line",
    [
        (("top",), 2),
        (("quoted key",), 3),
        (('single "quoted"',), 4),
        (("table",), 6),
        (("table", "site"), 7),
        (("table", "list"), 8),
        (("table", "after"), 12),
        (("table", "text"), 13),
        (("table", "raw"), 17),
        (("table", "end"), 20),
        (("table", "end", "deep", "deeper"), 20),
        (("a", "b.c"), 22),
        (("a", "b.c", "x"), 23),
        (("a", "b.c", "x", "inner"), 23),
        (("many",), 25),
        (("many", 0, "one"), 26),
        (("many", 1), 27),
        (("many", 1, "one"), 28),
        (("many", 1, "sub"), 29),
        (("many", 1, "sub", "two"), 30),
        (("many", 1, "subs", 0, "three"), 32),
        (("table", "missing"), 6),
        (("nowhere", "missing"), None),
        (("inside",), None),
        (("comment",), None),
    ],
)
def test_each_key_has_the_line_on_which_it_begins(path, line):
    tomllib.loads(TEXT)
    assert line_of(key_lines(TEXT), path) == line


WORD = st.text("abcxyz_-", min_size=1, max_size=8)
VALUE = st.sampled_from(
    ['"a]b"', "'c\"#'", "[1, [2],\n 3]", "{ k = '}' }", '"""x\n= [y\n"""', "'''\n'''", "true", '"\\""']
)


# How long a drawing takes is a matter of the machine and of who else works on it.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(WORD, st.dictionaries(WORD, VALUE, min_size=1), min_size=1), st.data())
def test_whatever_values_stand_between_keys_keep_their_lines(sections, data):
    expected, text = {}, ""
    for section, keys in sections.items():
        text += data.draw(st.sampled_from(["", "\n", "# [x] '''\n", '# """\n\n']))
        expected[section,] = text.count("\n") + 1
        text += f"[{section}] # comment\n"
        for key, value in keys.items():
            expected[section, key] = text.count("\n") + 1
            text += f"{key} = {value} # '\n"
    tomllib.loads(text)
    assert key_lines(text) == expected
