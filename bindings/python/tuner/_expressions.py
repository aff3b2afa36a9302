"""Python's conditions and numbers as expressions of kernel files (docs/kernel-files.md, "Expressions").

A condition is a text, such as "block_size_x * tile <= 1024", or a function of a dictionary. Texts are translated, and so are
lambdas and short functions whose source Python knows. All others are called with every combination of the parameters that
they look at, and become a table.
"""

import ast
import collections.abc
import copy
import fractions
import inspect
import itertools
import math
import numbers
import textwrap

from tuner._translation import Translation, Untranslatable, exactly, possible_name, value_texts

MOST_COMBINATIONS = 20_000
MOST_CHOICES = 10  # each may double the condition


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
    """The result of statements as one condition: they may only assign to names, choose and return."""
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
        translation = Translation(parameters, known, dictionary)
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
        exact = fractions.Fraction(int(given)) if isinstance(given, numbers.Integral) else exactly(given)
        return str(exact.numerator), str(exact.denominator)
    try:
        tree, known, dictionary = _tree_of(given, parameters)
        made = Translation(parameters, known, dictionary).number(tree)
        if made.below is not None and not made.natural:
            raise Untranslatable("a quotient that may be negative")
        return made.above.text, made.below.text if made.below else "1"
    except (Untranslatable, SyntaxError, OSError, TypeError):
        used, results = _table(given, parameters, _whole)
        return _table_text(used, results, parameters, False), "1"
