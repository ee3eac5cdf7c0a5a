"""Small faults put into a module, one at a time: the operators of the mutation check.

A fault is what a tired programmer types: `<` for `<=`, `and` for `or`, one more or one less, a forgotten line, nothing
given back. Text for people, annotations, decorators and assertions are left alone: they are not what decides.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_LEFT_ALONE = {"annotation", "returns", "decorator_list", "bases", "type_comment", "type_params"}
_CUT_WORDS = 110


@dataclass(frozen=True)
class Fault:
    """One fault: where it is and what it turns into what. `name` stays the same when lines above it move."""

    path: str
    line: int
    kind: str
    name: str
    number: int  # the place among the faults of its file


@dataclass
class _Site:
    line: int
    kind: str
    function: str
    words: str
    put: Callable[[], None]


def faults_of(path: str, source: str) -> list[Fault]:
    """Give every fault that can be put into a module."""
    seen: Counter[str] = Counter()
    found = []
    for number, site in enumerate(_sites(ast.parse(source))):
        name = f"{path} {site.function}: {site.words}"
        seen[name] += 1
        again = f" ({seen[name]})" if seen[name] > 1 else ""
        found.append(Fault(path, site.line, site.kind, name + again, number))
    return found


def with_fault(source: str, fault: Fault) -> ast.Module:
    """Give the module with one fault in it."""
    tree = ast.parse(source)
    for number, site in enumerate(_sites(tree)):
        if number == fault.number:
            site.put()
            return ast.fix_missing_locations(tree)
    raise ValueError(f"{fault.path} has no fault {fault.number}")


def _sites(tree: ast.Module) -> Iterator[_Site]:
    # A list: nothing is put in while the tree is walked.
    yield from list(_walk(tree, "module", tree))


def _walk(node: ast.AST, function: str, shown: ast.AST) -> Iterator[_Site]:
    for field, value in ast.iter_fields(node):
        if field in _LEFT_ALONE or (isinstance(node, ast.ClassDef) and field == "keywords"):
            continue
        children = value if isinstance(value, list) else [value]
        for at, child in enumerate(children):
            if not isinstance(child, ast.AST) or _is_left_alone(child, node):
                continue
            holder = _Holder(node, field, at if isinstance(value, list) else None)
            inner = function
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inner = child.name if function == "module" else f"{function}.{child.name}"
            context = child if isinstance(child, ast.stmt) else shown
            yield from _faults_at(child, holder, inner, context)
            yield from _walk(child, inner, _smaller(child, context))


def _smaller(child: ast.AST, shown: ast.AST) -> ast.AST:
    """What a fault within `child` is shown in: a comparison, a call or a line rather than a whole table."""
    return child if isinstance(child, ast.Compare | ast.BinOp | ast.Call | ast.Subscript | ast.BoolOp) else shown


def _is_left_alone(child: ast.AST, parent: ast.AST) -> bool:
    if isinstance(child, ast.Import | ast.ImportFrom | ast.Assert):
        return True
    if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
        return True  # a docstring, or `...`
    if isinstance(parent, ast.Raise):
        return True  # the sentence; that it is raised at all is a fault of its own
    if isinstance(child, ast.If) and "__name__" in ast.unparse(child.test):
        return True
    is_type = isinstance(child, ast.Assign) and isinstance(parent, ast.Module) and _names_a_type(child.value)
    return is_type or (isinstance(child, ast.Assign) and ast.unparse(child.targets[0]) == "__slots__")


def _names_a_type(value: ast.AST) -> bool:
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, ast.BitOr) and _names_a_type(value.left) and _names_a_type(value.right)
    return isinstance(value, ast.Name | ast.Subscript)


@dataclass
class _Holder:
    """The place of a node in its parent."""

    parent: ast.AST
    field: str
    at: int | None

    def put(self, node: ast.AST) -> None:
        if self.at is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.at] = node


def _faults_at(node: ast.AST, holder: _Holder, function: str, shown: ast.AST) -> Iterator[_Site]:
    def site(kind: str, new: ast.AST) -> _Site:
        words = _words(shown, node, holder, new)
        return _Site(getattr(node, "lineno", 0), kind, function, words, lambda: holder.put(new))

    match node:
        case ast.Compare(left, ops, comparators):
            for at, op in enumerate(ops):
                changed = [*ops[:at], _COMPARISONS[type(op)](), *ops[at + 1 :]]
                yield site("comparison", ast.Compare(left, changed, comparators))
        case ast.BoolOp(op, values):
            yield site("and/or", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values))
        case ast.UnaryOp(ast.Not(), operand):
            yield site("not", operand)
        case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC and not _is_text(left):
            yield site("arithmetic", ast.BinOp(left, _ARITHMETIC[type(op)](), right))
        case ast.AugAssign(target, op, value) if type(op) in _ARITHMETIC:
            yield site("arithmetic", ast.AugAssign(target, _ARITHMETIC[type(op)](), value))
            yield site("deleted line", ast.Pass())
        case ast.Constant(bool() as value):
            yield site("yes/no", ast.Constant(not value))
        case ast.Constant(int() as value):
            yield site("one more", ast.Constant(value + 1))
            yield site("one less", ast.Constant(value - 1))
        case ast.If(test, body, orelse) if isinstance(test, ast.Name | ast.Attribute | ast.Call):
            yield site("not", ast.If(ast.UnaryOp(ast.Not(), test), body, orelse))
        case ast.IfExp(test, body, orelse) if isinstance(test, ast.Name | ast.Attribute | ast.Call):
            yield site("not", ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse))
        case ast.Return(value) if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            yield site("nothing given back", ast.Return(ast.Constant(None)))
        case ast.Expr() | ast.Raise():
            yield site("deleted line", ast.Pass())
        case ast.Assign(targets) if any(isinstance(target, ast.Attribute | ast.Subscript) for target in targets):
            yield site("deleted line", ast.Pass())
        case ast.Break():
            yield site("break/continue", ast.Continue())
        case ast.Continue():
            yield site("break/continue", ast.Break())


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def _words(shown: ast.AST, old: ast.AST, holder: _Holder, new: ast.AST) -> str:
    """Tell the fault as the line (or the part of it that fits) before and after."""
    if shown is old or isinstance(old, ast.stmt):
        before, after = _first_line(old), _first_line(new)
    else:
        before = _first_line(shown)
        holder.put(new)
        after = _first_line(shown)
        holder.put(old)
    if len(before) > _CUT_WORDS or before == after:
        before, after = _first_line(old), _first_line(new)
    return f"{before[:_CUT_WORDS]} → {after[:_CUT_WORDS]}"


def _first_line(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(node) if isinstance(node, ast.stmt) else node).split("\n", 1)[0]
