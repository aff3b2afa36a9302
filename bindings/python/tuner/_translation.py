"""The words and operators of Python's expressions in the language of kernel files (docs/kernel-files.md, "Expressions")."""

import ast
import fractions
import functools
import math
import numbers

from tuner.lib import _native


class Untranslatable(ValueError):
    """A condition or number that a kernel file cannot have."""


@functools.cache
def possible_name(name):
    """`name`, with a `_` at its end if kernel files have another meaning for it."""
    return name + "_" if name == "i" else _native.possible_name(name)


def literal(value):
    """A parameter's value as kernel files write it."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, str) and value.isidentifier():
        return value
    raise Untranslatable(f"a kernel file has no value {value!r}: it has numbers, True, False and words")


def value_texts(values):
    """The value of each text in a kernel file, which has all integers, all truth values, or all words."""
    number, are_truths = float if any(isinstance(one, float) for one in values) else int, all(isinstance(one, bool) for one in values)
    texts = {}
    for one in values:
        texts.setdefault(literal(number(one) if isinstance(one, numbers.Real) and not are_truths else one), one)
    return texts


# How tightly the operators of kernel files bind.
_CHOICE, _OR, _AND, _NOT, _COMPARE, _SHIFT, _SUM, _PRODUCT, _ATOM = range(9)


class _Text:
    """A part of an expression; `level` is that of its loosest operator."""

    def __init__(self, text, level=_ATOM):
        self.text, self.level = text, level

    def within(self, level):
        return self.text if self.level >= level else f"({self.text})"


class _Number:
    """A fraction of two texts, as Python's `/` makes them. `natural`: it is never negative."""

    def __init__(self, above, below=None, natural=True):
        self.above, self.below, self.natural = above, below, natural

    def whole(self, what):
        if self.below is not None:
            raise Untranslatable(f"{what} of a fraction")
        return self.above


def _product(*factors):
    given = [one for one in factors if one is not None and one.text != "1"]
    if not given or any(one.text == "0" for one in given):
        return _Text("0" if given else "1")
    if len(given) == 1:
        return given[0]
    return _Text(" * ".join(one.within(_PRODUCT if at == 0 else _ATOM) if "/" in one.text or "%" in one.text
                            else one.within(_PRODUCT) for at, one in enumerate(given)), _PRODUCT)


class Translation(ast.NodeVisitor):
    def __init__(self, parameters, known, dictionary):
        self.parameters, self.known, self.dictionary = parameters, known, dictionary

    def generic_visit(self, node):
        raise Untranslatable(f"{type(node).__name__} in {ast.unparse(node)}")

    def name_of(self, node):
        """The parameter that `node` is, or None."""
        if isinstance(node, ast.Name) and node.id in self.parameters and node.id not in self.known:
            return node.id
        if (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == self.dictionary and
                isinstance(node.slice, ast.Constant) and node.slice.value in self.parameters):
            return node.slice.value
        return None

    def is_constant(self, node):
        return not any(self.name_of(one) or (isinstance(one, ast.Name) and one.id == self.dictionary) for one in ast.walk(node))

    def value(self, node):
        """Of a part without parameters."""
        try:
            return eval(compile(ast.fix_missing_locations(ast.Expression(node)), "<condition>", "eval"), dict(self.known))
        except Exception as error:
            raise Untranslatable(f"{ast.unparse(node)}: {error}") from None

    def constant(self, value):
        if isinstance(value, bool):
            return _Number(_Text(str(int(value))))
        if isinstance(value, numbers.Integral):
            return _Number(_Text(str(int(value)), _ATOM if value >= 0 else _SUM), natural=value >= 0)
        if isinstance(value, numbers.Real):
            exact = exactly(value)
            below = None if exact.denominator == 1 else _Text(str(exact.denominator))
            return _Number(_Text(str(exact.numerator), _ATOM if exact >= 0 else _SUM), below, exact >= 0)
        raise Untranslatable(f"{value!r} in an expression")

    # Numbers.

    def number(self, node):
        if self.is_constant(node):
            return self.constant(self.value(node))
        name = self.name_of(node)
        if name is not None:
            values = self.parameters[name]
            if not all(isinstance(one, numbers.Integral) for one in values):
                raise Untranslatable(f"{name} has values that kernel files do not compute with")
            return _Number(_Text(possible_name(name)), natural=min(values) >= 0)
        if self.is_truth(node):
            return _Number(self.condition(node))
        return getattr(self, "number_" + type(node).__name__, self.generic_visit)(node)

    def is_truth(self, node):
        """Whether the value is True or False, not an operand of `and`."""
        if isinstance(node, ast.BoolOp):
            return all(map(self.is_truth, node.values))
        name = self.name_of(node)
        return (isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)) or
                (name is not None and all(isinstance(one, bool) for one in self.parameters[name])))

    def number_UnaryOp(self, node):
        operand = self.number(node.operand)
        if isinstance(node.op, ast.UAdd):
            return operand
        if not isinstance(node.op, ast.USub):
            return self.generic_visit(node)
        return _Number(_Text("-" + operand.above.within(_ATOM), _SUM), operand.below, natural=False)

    def number_BinOp(self, node):
        operator = type(node.op)
        if operator is ast.Pow:
            return self.power(node)
        a, b = self.number(node.left), self.number(node.right)
        natural = a.natural and b.natural
        if operator in (ast.Add, ast.Sub):
            sign, above, below = "+" if operator is ast.Add else "-", (a.above, b.above), a.below
            if a.below is not None or b.below is not None:
                above, below = (_product(a.above, b.below), _product(b.above, a.below)), _product(a.below, b.below)
            text = f"{above[0].within(_SUM)} {sign} {above[1].within(_SUM if sign == '+' else _PRODUCT)}"
            return _Number(_Text(text, _SUM), below, natural and sign == "+")
        if operator is ast.Mult:
            below = _product(a.below, b.below)
            return _Number(_product(a.above, b.above), None if below.text == "1" else below, natural)
        if operator is ast.Div:
            above, below = _product(a.above, b.below), _product(a.below, b.above)
            return _Number(above, None if below.text == "1" else below, natural)
        if operator in (ast.FloorDiv, ast.Mod):
            if not natural:
                raise Untranslatable(f"{ast.unparse(node)} may be of negative numbers, which C++ rounds differently")
            above, other = _product(a.above, b.below), _product(b.above, a.below)
            sign = "/" if operator is ast.FloorDiv else "%"
            text = _Text(f"{above.within(_PRODUCT)} {sign} {other.within(_ATOM)}", _PRODUCT)
            below = _product(a.below, b.below)
            return _Number(text, below if operator is ast.Mod and below.text != "1" else None)
        if operator in (ast.LShift, ast.RShift):
            sign = "<<" if operator is ast.LShift else ">>"
            text = f"{a.whole(sign).within(_SHIFT)} {sign} {b.whole(sign).within(_SUM)}"
            return _Number(_Text(text, _SHIFT), natural=natural)
        return self.generic_visit(node)

    def power(self, node):
        base, exponent = self.number(node.left), self.number(node.right)
        if base.below is None and base.above.text == "2" and exponent.natural:
            return _Number(_Text(f"1 << {exponent.whole('**').within(_SUM)}", _SHIFT))
        if exponent.below is None and exponent.above.text.isdigit() and 1 <= int(exponent.above.text) <= 8:
            times = int(exponent.above.text)
            return _Number(_product(*[base.above] * times), None if base.below is None else _product(*[base.below] * times),
                           base.natural)
        return self.generic_visit(node)

    def number_IfExp(self, node):
        a, b = self.number(node.body), self.number(node.orelse)
        test = self.condition(node.test).within(_OR)
        text = f"{test} ? {a.whole('a choice').within(_OR)} : {b.whole('a choice').within(_CHOICE)}"
        return _Number(_Text(text, _CHOICE), natural=a.natural and b.natural)

    def number_Call(self, node):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if node.keywords or not node.args:
            return self.generic_visit(node)
        given = [self.number(one) for one in node.args]
        first = given[0]
        if name in ("min", "max", "minimum", "maximum"):
            texts = ", ".join(one.whole(name).text for one in given)
            return _Number(_Text(f"{name[:3]}({texts})"), natural=all(one.natural for one in given))
        if len(given) == 1 and name == "abs" and (first.below is None or first.natural):
            return _Number(_Text(f"abs({first.above.text})"), first.below)
        if len(given) == 1 and (name == "int" or (name == "floor" and first.natural)):
            if first.below is None:
                return first
            return _Number(_Text(f"{first.above.within(_PRODUCT)} / {first.below.within(_ATOM)}", _PRODUCT), natural=first.natural)
        if len(given) == 1 and name == "ceil" and first.natural:
            return first if first.below is None else _Number(_Text(f"ceil_div({first.above.text}, {first.below.text})"))
        return self.generic_visit(node)

    # Conditions.

    def condition(self, node):
        if self.is_constant(node):
            return _Text("true" if self.value(node) else "false")
        if isinstance(node, ast.BoolOp):
            word, level = ("and", _AND) if isinstance(node.op, ast.And) else ("or", _OR)
            return _Text(f" {word} ".join(self.condition(one).within(level) for one in node.values), level)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return _Text("not " + self.condition(node.operand).within(_NOT), _NOT)
        if isinstance(node, ast.Compare):
            operands = [node.left] + node.comparators
            parts = [self.comparison(*one) for one in zip(operands, node.ops, operands[1:])]
            return parts[0] if len(parts) == 1 else _Text(" and ".join(one.within(_AND) for one in parts), _AND)
        name = self.name_of(node)
        if name is not None and all(isinstance(one, bool) for one in self.parameters[name]):
            return _Text(possible_name(name))
        return _Text(f"{self.number(node).above.within(_SHIFT)} != 0", _COMPARE)

    def comparison(self, left, operator, right):
        if isinstance(operator, (ast.In, ast.NotIn)):
            if not self.is_constant(right):
                return self.generic_visit(right)
            values, name = list(self.value(right)), self.name_of(left)
            if name is None:
                texts = [self.constant(one).whole("in").text for one in values]
            else:
                texts = [text for text, one in value_texts(self.parameters[name]).items() if one in values]
            if not texts:
                return _Text("true" if isinstance(operator, ast.NotIn) else "false")
            among = self.words(left) or self.number(left).whole("in").within(_SHIFT)
            text = _Text(f"{among} in {{{', '.join(texts)}}}", _COMPARE)
            return text if isinstance(operator, ast.In) else _Text(f"not {text.text}", _NOT)
        sign = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}.get(type(operator))
        if sign is None:
            raise Untranslatable(f"{type(operator).__name__} in a condition")
        for one, other in ((left, right), (right, left)):
            word = self.words(one)
            if word is not None:
                return self.word_comparison(word, self.name_of(one), sign, other)
        a, b = self.number(left), self.number(right)
        for one in (a, b):  # a denominator of either sign would turn the comparison around
            if one.below is not None and not one.natural and not one.below.text.isdigit():
                raise Untranslatable("a quotient of numbers that may be negative")
        return _Text(f"{_product(a.above, b.below).within(_SHIFT)} {sign} {_product(b.above, a.below).within(_SHIFT)}", _COMPARE)

    def words(self, node):
        """The name of a parameter whose values are no integers."""
        name = self.name_of(node)
        if name is None or all(isinstance(one, numbers.Integral) for one in self.parameters[name]):
            return None
        return possible_name(name)

    def word_comparison(self, word, name, sign, other):
        if sign not in ("==", "!=") or not self.is_constant(other):
            raise Untranslatable(f"kernel files compare the values of {name} by == and != only")
        value = self.value(other)
        texts = [text for text, one in value_texts(self.parameters[name]).items() if one == value]
        return _Text(f"{word} {sign} {texts[0]}", _COMPARE) if texts else _Text("false" if sign == "==" else "true")


def exactly(value):
    """A number with a point as a fraction, if a power of two is below: otherwise Python rounds, where kernel files do not."""
    if not math.isfinite(value):
        raise Untranslatable(f"{value} in an expression")
    exact = fractions.Fraction(float(value))
    if exact.denominator > 1 << 20:
        raise Untranslatable(f"{value} is not exact in binary")
    return exact
