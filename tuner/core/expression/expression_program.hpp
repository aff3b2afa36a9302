#pragma once
/// Expressions with their names resolved: the one place that gives expressions a meaning. Private to this room.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tuner/core/expression/expression_tree.hpp>

namespace tuner {

struct Instruction {
  Op op = Op::constant;  // Op::name reads a slot; Op::failure is Program::failures[slot]
  std::uint32_t slot = 0;
  std::int64_t value = 0;
  std::vector<std::uint32_t> operands = {};
  double real = 0;              // of Op::real
  bool is_real = false;         // as in ExpressionNode
  bool compares_reals = false;  // likewise
};

/// A parameter as the program sees it. All values are numbers: a word is its position in a table.
struct Slot {
  std::size_t parameter = 0;
  std::vector<std::int64_t> values;
  Interval all;
};

struct Program {
  std::vector<Instruction> instructions;
  std::uint32_t root = 0;
  std::vector<Slot> slots;
  std::vector<EvaluationError> failures;  ///< of parts that always fail
  bool misuses_names = false;             ///< a name is missing, or is a word where a number is needed

  /// \p read returns the value of a slot.
  std::int64_t run(std::uint32_t at, const auto& read, ArithmeticProblem& problem) const {
    const Instruction& i = instructions[at];
    const auto operand = [&](std::size_t k) { return run(i.operands[k], read, problem); };
    switch (i.op) {
      case Op::constant:
        return i.value;
      case Op::name:
        return read(slots[i.slot]);
      case Op::failure:
        problem.message = failures[i.slot].what();
        problem.error = &failures[i.slot];
        return 0;
      case Op::logical_and:
        return operand(0) != 0 && !problem.message && operand(1) != 0;
      case Op::logical_or:
        return operand(0) != 0 || (!problem.message && operand(1) != 0);
      case Op::conditional: {
        const bool condition = operand(0) != 0;
        return problem.message ? 0 : operand(condition ? 1 : 2);
      }
      case Op::member: {
        const std::int64_t value = operand(0);
        for (std::size_t k = 1; k < i.operands.size() && !problem.message; ++k) {
          if (operand(k) == value) return !problem.message;
        }
        return 0;
      }
      default: {
        if (i.compares_reals)
          return compare(i.op, run_real(i.operands[0], read, problem), run_real(i.operands[1], read, problem));
        const std::int64_t a = operand(0);
        if (problem.message) return 0;
        if (i.operands.size() == 1) return apply_unary(i.op, a, problem);
        const std::int64_t b = operand(1);
        return problem.message ? 0 : apply_binary(i.op, a, b, problem);
      }
    }
  }

  /// run() for a result that may be double.
  double run_real(std::uint32_t at, const auto& read, ArithmeticProblem& problem) const {
    const Instruction& i = instructions[at];
    if (!i.is_real) return static_cast<double>(run(at, read, problem));
    if (i.op == Op::real) return i.real;
    const auto operand = [&](std::size_t k) { return run_real(i.operands[k], read, problem); };
    if (i.op == Op::conditional) return operand(run(i.operands[0], read, problem) != 0 ? 1 : 2);
    return apply_real(i.op, operand(0), i.operands.size() > 1 ? operand(1) : 0);
  }

  /// \p range returns the values that a slot may have.
  Interval bound(std::uint32_t at, const auto& range) const {
    const Instruction& i = instructions[at];
    const auto operand = [&](std::size_t k) { return bound(i.operands[k], range); };
    switch (i.op) {
      case Op::constant:
        return {i.value, i.value, false};
      case Op::name:
        return range(slots[i.slot]);
      case Op::failure:
        return Interval::anything();
      case Op::logical_and: {
        const Interval left = operand(0).truth();
        if (left.surely_zero()) return left;
        const Interval right = operand(1).truth();
        return {left.low & right.low, left.high & right.high, left.may_fail || right.may_fail};
      }
      case Op::logical_or: {
        const Interval left = operand(0).truth();
        if (left.surely_nonzero()) return left;
        const Interval right = operand(1).truth();
        return {left.low | right.low, left.high | right.high, left.may_fail || right.may_fail};
      }
      case Op::conditional: {
        const Interval condition = operand(0).truth();
        Interval result = condition.is_single() ? operand(condition.low ? 1 : 2) : hull(operand(1), operand(2));
        result.may_fail = result.may_fail || condition.may_fail;
        return result;
      }
      case Op::member: {
        const Interval value = operand(0);
        Interval result{0, 0, value.may_fail};
        for (std::size_t k = 1; k < i.operands.size(); ++k) {
          const Interval same = apply_binary(Op::equal, value, operand(k));
          result = {result.low | same.low, result.high | same.high, result.may_fail || same.may_fail};
        }
        return result;
      }
      default:
        return i.operands.size() == 1 ? apply_unary(i.op, operand(0)) : apply_binary(i.op, operand(0), operand(1));
    }
  }
};

/// Resolves the names of \p root: those of \p parameters become slots, all others have their values in \p fixed. Parts
/// without slots are computed at once. Returns nothing if the kinds of a parameter's values differ, or if it is the
/// argument of `sizeof`.
std::optional<Program> translated(const ExpressionNode& root, std::span<const TuningParameter> parameters,
                                  const Bindings& fixed);

/// The value of \p root, an integer or a boolean, with all names bound. Throws EvaluationError.
Value evaluated_number(const ExpressionNode& root, const Bindings& bindings);
/// The same for a root that may be double.
double evaluated_real(const ExpressionNode& root, const Bindings& bindings);

}  // namespace tuner
