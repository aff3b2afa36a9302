"""Python's conditions and numbers as expressions of kernel files (docs/kernel-files.md, "Expressions").

A condition is a text, such as "block_size_x * tile <= 1024", or a function of a dictionary. Texts are translated, and so are
lambdas and short functions whose source Python knows. All others are called with every combination of the parameters that
they look at, and become a table.
"""

import ast
import collections.abc
import copy
import fractions
import functools
import inspect
import itertools
import math
import numbers
import textwrap

from tuner.lib import _native

MOST_COMBINATIONS = 20_000
MOST_CHOICES = 10  # each may double the condition


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


class _Translation(ast.NodeVisitor):
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
            exact = _exactly(value)
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


def _exactly(value):
    """A number with a point as a fraction, if a power of two is below: otherwise Python rounds, where kernel files do not."""
    if not math.isfinite(value):
        raise Untranslatable(f"{value} in an expression")
    exact = fractions.Fraction(float(value))
    if exact.denominator > 1 << 20:
        raise Untranslatable(f"{value} is not exact in binary")
    return exact


def _signature_of(function):
    """The arguments of a function by their names; none if it is written in C."""
    try:
        return inspect.signature(function).parameters
    except ValueError:
        return {}


def _names_known_to(function):
    closure = inspect.getclosurevars(function)
    return {**closure.builtins, **closure.globals, **closure.nonlocals}


def _arguments_of(function, parameters):
    """The parameters that a function takes by their names; None if it takes a dictionary of all."""
    names = list(_signature_of(function))
    return names if names and all(name in parameters for name in names) else None


def _lambda_of(function):
    """Its syntax tree, by the place of its code in its file."""
    places = {(line, column, end, end_column) for line, end, column, end_column in function.__code__.co_positions()}
    for node in ast.walk(ast.parse("".join(inspect.findsource(function)[0]))):
        if isinstance(node, ast.Lambda):
            body = node.body
            if (body.lineno, body.col_offset, body.end_lineno, body.end_col_offset) in places:
                return node
    raise Untranslatable("a lambda")


class _Locals(ast.NodeTransformer):
    """Puts the expressions of local variables in place of their names."""

    def __init__(self, values):
        self.values = values

    def visit_Name(self, node):
        return self.values.get(node.id, node)


def _returned(statements, values):
    """What statements return, as one condition: they may only assign to names, choose and return."""
    if not statements:
        return ast.Constant(False)
    first, *rest = statements
    put = lambda node: _Locals(values).visit(copy.deepcopy(node))
    if isinstance(first, ast.Return):
        return put(first.value) if first.value is not None else ast.Constant(False)
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return _returned(rest, values)
    if isinstance(first, ast.Assign) and len(first.targets) == 1 and isinstance(first.targets[0], ast.Name):
        return _returned(rest, {**values, first.targets[0].id: put(first.value)})
    if not isinstance(first, ast.If):
        raise Untranslatable(f"a function with {type(first).__name__}")
    test, met, unmet = put(first.test), _returned(first.body + rest, values), _returned(first.orelse + rest, values)
    both = [one.value if isinstance(one, ast.Constant) and isinstance(one.value, bool) else None for one in (met, unmet)]
    fails = ast.UnaryOp(ast.Not(), test)
    if None not in both:
        return test if both == [True, False] else fails if both == [False, True] else met
    if both[0] is not None:
        return ast.BoolOp(ast.Or(), [test, unmet]) if both[0] else ast.BoolOp(ast.And(), [fails, unmet])
    if both[1] is not None:
        return ast.BoolOp(ast.Or(), [fails, met]) if both[1] else ast.BoolOp(ast.And(), [test, met])
    return ast.BoolOp(ast.Or(), [ast.BoolOp(ast.And(), [test, met]), ast.BoolOp(ast.And(), [fails, unmet])])


def _tree_of(condition, parameters):
    """The syntax tree of a text, lambda or short function, what its other names mean, and the name of its dictionary."""
    if isinstance(condition, str):
        return ast.parse(condition.strip(), mode="eval").body, {"math": math}, None
    known, names = _names_known_to(condition), _arguments_of(condition, parameters)
    if condition.__name__ == "<lambda>":
        tree = _lambda_of(condition)
        body = tree.body
    else:
        tree = ast.parse(textwrap.dedent(inspect.getsource(condition))).body[0]
        if not isinstance(tree, ast.FunctionDef) or tree.decorator_list or sum(isinstance(one, ast.If) for one in ast.walk(tree)) > MOST_CHOICES:
            raise Untranslatable("a function with many choices, or with a decorator")
        body = _returned(tree.body, {})
    if names is not None:
        return body, {name: value for name, value in known.items() if name not in names}, None
    if len(tree.args.args) != 1 or tree.args.vararg:
        raise Untranslatable("a function of names that are no parameters")
    return body, known, tree.args.args[0].arg


def python_function(condition, parameters=()):
    """A condition or number as a function of a dictionary. A function may take the parameters by their names."""
    if isinstance(condition, str):
        code = compile(condition.strip(), "<condition>", "eval")
        return lambda values: eval(code, {"math": math, **values})
    names = _arguments_of(condition, parameters)
    if names is not None:
        return lambda values: condition(**{name: values[name] for name in names})
    if any(one.kind == one.VAR_KEYWORD for one in _signature_of(condition).values()):
        return lambda values: condition(**dict(values))
    return condition


class _Watched(collections.abc.Mapping):
    """Knows which of its values were looked at."""

    def __init__(self, values, looked_at):
        self.known, self.looked_at = values, looked_at

    def __getitem__(self, name):
        value = self.known[name]
        self.looked_at.add(name)
        return value

    def __iter__(self):  # dict(p) and f(**p) look at everything, and through this
        self.looked_at.update(self.known)
        return iter(self.known)

    def __len__(self):
        return len(self.known)

    def copy(self):
        return dict(self)

    def __or__(self, other):
        return dict(self) | other


def _table(condition, parameters, convert):
    """The parameters that a condition or number looks at, and its value for each combination of them."""
    function, used = python_function(condition, parameters), []
    first = {name: values[0] for name, values in parameters.items()}
    while True:
        looked_at, results = set(), {}
        count = math.prod(len(parameters[name]) for name in used)
        if count > MOST_COMBINATIONS:
            raise Untranslatable(f"a function of {', '.join(used)}, which have {count} combinations")
        if isinstance(condition, str):
            looked_at = {node.id for node in ast.walk(ast.parse(condition.strip())) if isinstance(node, ast.Name)}
        for values in itertools.product(*(parameters[name] for name in used)):
            known = {**first, **dict(zip(used, values))}
            try:
                results[values] = convert(function(known if isinstance(condition, str) else _Watched(known, looked_at)))
            except Untranslatable:
                raise
            except Exception as error:  # of the user's function
                raise Untranslatable(f"{condition if isinstance(condition, str) else 'a function'}: {type(error).__name__}: {error}") from error
        more = [name for name in parameters if name in looked_at and name not in used]
        if not more:
            return used, results
        used += more


def _table_text(used, results, parameters, is_condition):
    if not used:
        return results[()]
    name, groups = used[0], {}
    for text, value in value_texts(parameters[name]).items():
        rest = {values[1:]: result for values, result in results.items() if values[0] == value}
        groups.setdefault(_table_text(used[1:], rest, parameters, is_condition), []).append(text)
    if len(groups) == 1:
        return next(iter(groups))
    name = possible_name(name)
    if not is_condition:
        return _choice(name, list(groups.items()))
    inner = {text: f"({text})" if " or " in text else text for text in groups}
    return " or ".join(_test(name, values) if text == "true" else f"{_test(name, values)} and {inner[text]}"
                       for text, values in groups.items() if text != "false")


def _test(name, values):
    return f"{name} in {{{', '.join(values)}}}" if len(values) > 1 else f"{name} == {values[0]}"


def _choice(name, groups):
    """Halved again and again, as expressions nest only so deep."""
    if len(groups) == 1:
        return groups[0][0]
    half = len(groups) // 2
    values = [value for _, some in groups[:half] for value in some]
    return f"{_test(name, values)} ? ({_choice(name, groups[:half])}) : ({_choice(name, groups[half:])})"


def _whole(value):
    if value != int(value):
        raise Untranslatable(f"{value} is not an integer")
    return str(int(value))


def condition(given, parameters):
    """The texts of constraints, all of which must hold. Raises Untranslatable."""
    try:
        tree, known, dictionary = _tree_of(given, parameters)
        parts = tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]
        translation = _Translation(parameters, known, dictionary)
        return [translation.condition(one).text for one in parts]
    except (Untranslatable, SyntaxError, OSError, TypeError) as error:
        if isinstance(error, SyntaxError) and isinstance(given, str):
            raise Untranslatable(f"{given!r}: {error.msg}") from None
        used, results = _table(given, parameters, lambda value: "true" if value else "false")
        return [_table_text(used, results, parameters, True)]


def number(given, parameters):
    """A number, text or function of the parameters as an expression: a numerator and a denominator, "1" if there is none.
    Raises Untranslatable."""
    if isinstance(given, numbers.Real):
        exact = fractions.Fraction(int(given)) if isinstance(given, numbers.Integral) else _exactly(given)
        return str(exact.numerator), str(exact.denominator)
    try:
        tree, known, dictionary = _tree_of(given, parameters)
        made = _Translation(parameters, known, dictionary).number(tree)
        if made.below is not None and not made.natural:
            raise Untranslatable("a quotient that may be negative")
        return made.above.text, made.below.text if made.below else "1"
    except (Untranslatable, SyntaxError, OSError, TypeError):
        used, results = _table(given, parameters, _whole)
        return _table_text(used, results, parameters, False), "1"
