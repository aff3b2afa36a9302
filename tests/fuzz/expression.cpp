/// libFuzzer: any bytes are an expression, or a SpecError; and the compiled form answers as it does with all names
/// bound.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tuner/core/expression/compiled_expression.hpp>

namespace {

using tuner::CompiledExpression;

CompiledExpression::Verdict with_all_bound(const tuner::Expression& expression, const tuner::Bindings& bindings) {
  try {
    return expression.evaluate_boolean(bindings) ? CompiledExpression::Verdict::yes : CompiledExpression::Verdict::no;
  } catch (const tuner::EvaluationError&) {
    return CompiledExpression::Verdict::error;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tuner;
  try {
    const Expression expression = Expression::parse({reinterpret_cast<const char*>(data), size}, {"fuzz", 1, 1});
    const std::vector<TuningParameter> parameters{{"a", {Value(-3), Value(0), Value(INT64_MAX)}},
                                                  {"w", {Value("red"), Value("blue")}}};
    Bindings fixed;
    fixed.set("n", 100);
    fixed.set("T", Value("half"));
    const CompiledExpression compiled(expression, parameters, fixed);
    const bool nothing_bound[] = {false, false};
    const std::vector<std::uint16_t> none{0, 0};
    const bool hopeless = compiled.cannot_hold(none, nothing_bound, false);
    for (std::uint16_t a = 0; a < 3; ++a) {
      for (std::uint16_t w = 0; w < 2; ++w) {
        Bindings all = fixed;
        all.set("a", parameters[0].values[a]);
        all.set("w", parameters[1].values[w]);
        const auto verdict = compiled.check(std::vector<std::uint16_t>{a, w});
        if (verdict != with_all_bound(expression, all)) __builtin_trap();
        if (hopeless && verdict != CompiledExpression::Verdict::no) __builtin_trap();
      }
    }
  } catch (const SpecError&) {
  }
  return 0;
}
