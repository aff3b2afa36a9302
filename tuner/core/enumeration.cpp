#include <tuner/core/enumeration.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>

#include <tuner/core/expression_tree.hpp>

namespace tuner {
namespace {

constexpr std::size_t kMostConfigurations = std::size_t{1} << 26;

struct Predicate {
  CompiledExpression compiled;
  bool failing_is_no;
};

/// Depth-first over prefixes. A predicate is checked when its last parameter is bound; before that, interval
/// arithmetic cuts prefixes that cannot be completed.
class Walk {
 public:
  Walk(const std::vector<TuningParameter>& parameters, const std::vector<Conjunct>& conjuncts, const Bindings& fixed)
      : parameters_(parameters), digits_(parameters.size()), bound_(std::make_unique<bool[]>(parameters.size())) {
    for (const Conjunct& conjunct : conjuncts) {
      for (const Expression& part : split_conjunction(conjunct.predicate)) {
        predicates_.push_back({CompiledExpression(part, parameters, fixed), conjunct.failing_is_no});
      }
    }
    choose_order();
    set_weights();
  }

  std::vector<std::uint64_t> run() {
    if (admits(complete_.front()) && promises(partial_.front())) visit(0, 0);
    if (!std::is_sorted(order_.begin(), order_.end())) std::sort(codes_.begin(), codes_.end());
    return std::move(codes_);
  }

  void decode(std::uint64_t code, std::uint16_t* out) const {
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      out[i] = static_cast<std::uint16_t>(code / weights_[i]);
      code %= weights_[i];
    }
  }

 private:
  using List = std::vector<const Predicate*>;

  /// Binds first what decides a predicate soonest: again and again the parameters of the predicate with the fewest
  /// combinations left.
  void choose_order() {
    std::vector<char> placed(parameters_.size(), 0);
    const auto place = [&](std::size_t parameter) {
      if (placed[parameter]) return;
      placed[parameter] = 1;
      order_.push_back(parameter);
    };
    for (;;) {
      const Predicate* next = nullptr;
      double fewest = std::numeric_limits<double>::infinity();
      for (const Predicate& predicate : predicates_) {
        double combinations = 1;
        for (const std::size_t i : predicate.compiled.parameters()) {
          if (!placed[i]) combinations *= static_cast<double>(parameters_[i].values.size());
        }
        const bool open = std::any_of(predicate.compiled.parameters().begin(), predicate.compiled.parameters().end(),
                                      [&](std::size_t i) { return !placed[i]; });
        if (open && combinations < fewest) {
          fewest = combinations;
          next = &predicate;
        }
      }
      if (!next) break;
      for (const std::size_t i : next->compiled.parameters()) place(i);
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) place(i);
    schedule();
  }

  /// At depth d the first d parameters of the order are bound.
  void schedule() {
    complete_.resize(parameters_.size() + 1);
    partial_.resize(parameters_.size() + 1);
    std::vector<std::size_t> depth_of(parameters_.size());
    for (std::size_t d = 0; d < order_.size(); ++d) depth_of[order_[d]] = d + 1;
    for (const Predicate& predicate : predicates_) {
      std::size_t last = 0;
      for (const std::size_t i : predicate.compiled.parameters()) last = std::max(last, depth_of[i]);
      complete_[last].push_back(&predicate);
      if (last > 0) partial_[0].push_back(&predicate);
      for (const std::size_t i : predicate.compiled.parameters()) {
        if (depth_of[i] < last) partial_[depth_of[i]].push_back(&predicate);
      }
    }
  }

  void set_weights() {
    weights_.assign(parameters_.size(), 1);
    std::uint64_t product = 1;
    for (std::size_t i = parameters_.size(); i-- > 0;) {
      weights_[i] = product;
      if (__builtin_mul_overflow(product, parameters_[i].values.size(), &product) || product >> 63) {
        throw std::length_error("the product of the parameters' values passes 2^63; leave some values out");
      }
    }
  }

  void visit(std::size_t depth, std::uint64_t code) {
    if (depth == order_.size()) return found(code);
    const std::size_t parameter = order_[depth];
    const std::size_t pending = pending_.size();
    bound_[parameter] = true;
    for (std::size_t digit = 0; digit < parameters_[parameter].values.size(); ++digit) {
      digits_[parameter] = static_cast<std::uint16_t>(digit);
      if (admits(complete_[depth + 1]) && promises(partial_[depth + 1])) {
        visit(depth + 1, code + digit * weights_[parameter]);
      }
      pending_.resize(pending);
    }
    bound_[parameter] = false;
  }

  /// False when one of \p predicates is false. One without an answer waits: another may still rule out the prefix.
  bool admits(const List& predicates) {
    for (const Predicate* predicate : predicates) {
      const auto verdict = predicate->compiled.check(digits_);
      if (verdict == CompiledExpression::Verdict::yes) continue;
      if (verdict == CompiledExpression::Verdict::no || predicate->failing_is_no) return false;
      pending_.push_back(predicate);
    }
    return true;
  }

  bool promises(const List& predicates) const {
    return std::none_of(predicates.begin(), predicates.end(), [&](const Predicate* predicate) {
      return predicate->compiled.cannot_hold(digits_, {bound_.get(), parameters_.size()}, predicate->failing_is_no);
    });
  }

  void found(std::uint64_t code) {
    if (!pending_.empty()) pending_.front()->compiled.holds(digits_);  // throws
    if (codes_.size() == kMostConfigurations) {
      throw std::length_error("more than 2^26 valid configurations; add constraints or leave values out");
    }
    codes_.push_back(code);
  }

  const std::vector<TuningParameter>& parameters_;
  std::vector<Predicate> predicates_;
  std::vector<std::size_t> order_;
  std::vector<List> complete_, partial_;  // by depth
  std::vector<std::uint64_t> weights_;
  std::vector<std::uint16_t> digits_;
  std::unique_ptr<bool[]> bound_;
  List pending_;
  std::vector<std::uint64_t> codes_;
};

}  // namespace

EnumeratedSpace enumerate_conjuncts(const std::vector<TuningParameter>& parameters,
                                    const std::vector<Conjunct>& conjuncts, const Bindings& fixed) {
  Walk walk(parameters, conjuncts, fixed);
  const std::vector<std::uint64_t> codes = walk.run();
  std::vector<std::uint16_t> digits(codes.size() * parameters.size());
  for (std::size_t row = 0; row < codes.size(); ++row) walk.decode(codes[row], digits.data() + row * parameters.size());
  return EnumeratedSpace(parameters, digits);
}

}  // namespace tuner
